import { readFile, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { requirements, verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { Upstreams } from '../support/upstreams.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator({ env: { SECRET_PARENT: 'canary-of-the-parent' } });
});
afterAll(() => running.stop());

/** What no HTTP library would send: the request to the letter. Answers the status. */
function raw(headers: string[], path = '/tools/mcp/bare/echo'): Promise<number> {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Authorization: Bearer ${running.token}`,
    'Content-Length: 2',
    'Connection: close',
    ...headers,
  ];
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = createConnection(running.port, '127.0.0.1', () =>
      socket.write(`${lines.join('\r\n')}\r\n\r\n{}`),
    );
    socket.on('data', (chunk) => (answer += chunk));
    socket.on('end', () => resolve(Number(answer.split(' ')[1])));
    socket.on('error', reject);
  });
}

verifies('security.origin', async () => {
  const host = `Host: 127.0.0.1:${running.port}`;
  expect(await raw([host])).toBe(200);
  expect(await raw([host, `Origin: http://localhost:${running.port}`])).toBe(200);
  for (const foreign of [
    'Host: evil.example',
    'Host: 127.0.0.1.evil.example',
    'Host: evil.example?127.0.0.1',
    'Host: evil.example#localhost',
  ]) {
    expect([foreign, await raw([foreign])]).toEqual([foreign, 403]);
  }
  for (const origin of ['http://evil.example', 'null', 'http://localhost.evil.example']) {
    expect([origin, await raw([host, `Origin: ${origin}`])]).toEqual([origin, 403]);
  }
  expect(await raw([host, 'Origin: http://localhost', 'Origin: http://evil.example'])).toBe(403);
  expect(await raw(['Host: evil.example'], '/health')).toBe(403);
});

verifies('security.files', async () => {
  const mode = async (name: string) => ((await stat(join(running.home, name))).mode & 0o777).toString(8);
  expect(await mode('')).toBe('700');
  expect(await mode('token')).toBe('600');
  expect(await mode(`${running.port}.sock`)).toBe('600');
  expect(await mode('store.db')).toBe('600');
});

test('the token is made once: a restart keeps it', async () => {
  const again = await startOrchestrator({ again: running, env: { PORT: '0' } });
  expect(again.token).toBe(running.token);
  again.process.kill('SIGTERM');
});

verifies('security.token-everywhere', async () => {
  const { body } = await api(running).get('/api/openapi.json');
  for (const [path, methods] of Object.entries<Record<string, { security?: [] }>>(body.paths)) {
    for (const [method, { security }] of Object.entries(methods)) {
      const response = await fetch(running.url + path.replaceAll(/\{\w+\}/g, 'x'), {
        method: method.toUpperCase(),
      });
      expect([method, path, response.status === 401]).toEqual([method, path, security === undefined]);
    }
  }
});

test('neither the token nor the environment of the orchestrator is in its output or its store', async () => {
  await api(running).post('/tools/mcp/bare/echo').send({ text: 'hello' });
  await api(running).get('/api/calls');
  const store = await readFile(join(running.home, 'store.db'), 'latin1');
  for (const secret of [running.token, 'canary-of-the-parent']) {
    expect(running.output()).not.toContain(secret);
    expect(store).not.toContain(secret);
  }
});

verifies('security.no-passthrough', async () => {
  const upstreams = new Upstreams();
  const { url } = await upstreams.httpServer({ TOKEN: 'key-of-the-server' });
  const remote = { url: `${url}/mcp`, headers: { authorization: 'Bearer key-of-the-server' } };
  const other = await startOrchestrator({ servers: { remote } });
  try {
    const reply = await fetch(`${other.url}/tools/mcp/remote/header`, {
      method: 'POST',
      headers: { ...other.headers(), cookie: 'mcpbridge_login=x', 'x-api-key': 'of-the-caller' },
      body: '{}',
    });
    const { result } = (await reply.json()) as { result: string };
    expect(result).toContain('Bearer key-of-the-server');
    for (const own of [other.token, 'mcpbridge_login', 'of-the-caller']) expect(result).not.toContain(own);
  } finally {
    await other.stop();
    await upstreams.close();
  }
});

verifies('security.attack-table', async () => {
  const text = await readFile(new URL('../../SECURITY.md', import.meta.url), 'utf8');
  const rows = text.split('\n').filter((line) => /^\| \d+ \|/.test(line));
  expect(rows).toHaveLength(22);
  const named = rows.flatMap((row) => [...row.matchAll(/`([a-z]+\.[a-z-]+)`/g)].map(([, id]) => id));
  expect(named.filter((id) => !Object.hasOwn(requirements, id ?? ''))).toEqual([]);
});
