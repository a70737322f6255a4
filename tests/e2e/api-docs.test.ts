import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { verifies } from '../requirements.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { plainEnv, root } from '../support/processes.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  const { mcpServers } = JSON.parse(readFileSync(join(root, 'mcp_servers.json'), 'utf8'));
  const servers = Object.entries<object>(mcpServers).map(([id, entry]) => [id, { ...entry, cwd: root }]);
  running = await startOrchestrator({ servers: Object.fromEntries(servers) });
});
afterAll(() => running.stop());

const EXAMPLE = /```sh\n(.+)\n```\n```json\n(.+)\n```/g;

verifies(
  'contract.api-docs',
  async () => {
    const examples = [...readFileSync(join(root, 'docs/api.md'), 'utf8').matchAll(EXAMPLE)];
    expect(examples.length).toBeGreaterThan(30);
    const env = { ...plainEnv(), BASE: running.url, MCP_AUTH: `Authorization: Bearer ${running.token}` };
    for (const [, command = '', documented = ''] of examples) {
      const { stdout } = await promisify(execFile)('bash', ['-c', command], {
        env,
        maxBuffer: 64 * 1024 * 1024,
      });
      const actual: unknown = JSON.parse(stdout);
      expect({ command, answer: actual }).toEqual({
        command,
        answer: filledIn(JSON.parse(documented), actual),
      });
    }
  },
  120_000,
);

/** The documented answer with what it leaves open taken from the actual one. */
function filledIn(documented: unknown, actual: unknown): unknown {
  if (documented === '…') return actual;
  if (Array.isArray(documented) && Array.isArray(actual)) {
    const open = documented.at(-1) === '…';
    const said = open ? documented.slice(0, -1) : documented;
    const filled = said.map((element, index) => filledIn(element, actual[index]));
    return open ? [...filled, ...actual.slice(said.length)] : filled;
  }
  if (!isRecord(documented) || !isRecord(actual)) return documented;
  const { '…': open, ...said } = documented;
  const filled = Object.entries(said).map(([key, value]) => [key, filledIn(value, actual[key])]);
  return { ...(open === undefined ? {} : actual), ...Object.fromEntries(filled) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
