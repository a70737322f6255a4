import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { ERROR_TABLE } from '@mcpbridge/shared/errors.js';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { root } from '../support/processes.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator();
});
afterAll(() => running.stop());

verifies('contract.tools', async () => {
  const { body, headers } = await api(running).get('/api/tools');
  expect(body.tools.map((tool: { name: string }) => tool.name)).toEqual([
    'agent_browser',
    'bare__big',
    'bare__echo',
    'bare__slow',
    'diff_patch_workspace_file',
    'execute_shell_command',
    'get_api_spec',
    'list_workspace_files',
    'read_workspace_file',
    'search_workspace_files',
    'write_workspace_file',
  ]);
  expect(body.tools[2]).toEqual({
    name: 'bare__echo',
    description: 'Says the text again',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    type: 'mcp',
    server: 'bare',
  });
  const again = await api(running)
    .get('/api/tools')
    .set({ 'if-none-match': String(headers.etag) });
  expect(again.status).toBe(304);
  expect((await api(running).get('/api/tools?type=virtual')).body.tools).toHaveLength(1);
  const one = await api(running).get('/api/tools/bare__echo');
  expect(one.body).toEqual(body.tools[2]);
});

/** A route that is described and does not run, or runs undescribed, answers 404 or is missing here. */
verifies('contract.openapi', async () => {
  const { body } = await api(running).get('/api/openapi.json');
  expect(body.openapi).toBe('3.1.0');
  for (const [path, methods] of Object.entries<object>(body.paths)) {
    for (const method of Object.keys(methods)) {
      const response = await fetch(running.url + path.replaceAll(/\{\w+\}/g, 'x'), {
        method: method.toUpperCase(),
        headers: running.headers(),
      });
      const isEndless = response.headers.get('content-type') === 'text/event-stream';
      if (isEndless) await response.body?.cancel();
      const text = isEndless ? '' : await response.text();
      expect([method, path, text.includes('There is nothing at')]).toEqual([method, path, false]);
    }
  }
  const documented = [
    ...readFileSync(join(root, 'docs/api.md'), 'utf8').matchAll(
      /^### `(GET|POST|PUT|PATCH|DELETE) ([^`]+)`/gm,
    ),
  ];
  const described = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(documented.map(([, method, path]) => `${method} ${path}`).sort()).toEqual(described.sort());
});

verifies('contract.error-docs', () => {
  const documented = [
    ...readFileSync(join(root, 'docs/errors.md'), 'utf8').matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (\w+) /gm),
  ];
  const rows = documented.map(([, code, status, layer]) => [code, Number(status), layer]);
  const table = Object.entries(ERROR_TABLE).map(([code, { status, layer }]) => [code, status, layer]);
  expect(rows.sort()).toEqual(table.sort());
});
