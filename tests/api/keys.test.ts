import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, isAlive } from '../support/processes.js';
import { featuresServer } from '../support/road.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator({ servers: { one: featuresServer(), two: featuresServer() } });
});
afterAll(() => running.stop());

/** Any request as the owner, or with another token. */
async function send(method: string, path: string, body?: unknown, token = running.token, headers = {}) {
  const response = await fetch(running.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = /^application\/json(;|$)/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

const makeKey = async (key: object) =>
  (await send('POST', '/api/keys', { name: 'a key', ...key })).body as { id: string; key: string };

const call = (token: string, name: string, args: object = {}, headers = {}) =>
  send('POST', '/api/mcp/execute', { tool_name: name, arguments: args }, token, headers);

const namesFor = async (token: string, path = '/api/tools') =>
  (await send('GET', path, undefined, token)).body.tools.map((tool: { name: string }) => tool.name);

describe('a key', () => {
  test('is shown once, and neither the list nor the store holds it', async () => {
    const { id, key } = await makeKey({ name: 'anna', tools: { allow: ['one__*'] }, ttl: '30d' });
    expect(key).toMatch(/^mcpk_[\w-]{43}$/);
    const { keys } = (await send('GET', '/api/keys')).body;
    const shown = keys.find((one: { id: string }) => one.id === id);
    expect(shown).toMatchObject({ name: 'anna', admin: false, tools: { allow: ['one__*'] } });
    expect(Date.parse(shown.expiresAt)).toBeGreaterThan(Date.now() + 29 * 24 * 3_600_000);
    expect(JSON.stringify(keys)).not.toContain(key);
    for (const file of ['store.db', 'store.db-wal'])
      expect(readFileSync(join(running.home, file), 'latin1')).not.toContain(key);
  });

  verifies('keys.rights-travel', async () => {
    const { key } = await makeKey({ tools: { allow: ['one__*'], deny: ['one__crash*'] } });
    expect((await namesFor(key)).filter((name: string) => !name.startsWith('one__'))).toEqual([]);
    expect(await namesFor(key, '/api/tools/search?q=crash')).toEqual([]);
    expect((await call(key, 'one__echo', { text: 'hi' })).body.result).toBe('hi');
    expect((await call(key, 'two__echo')).body.error.code).toBe('TOOL_NOT_ALLOWED');
    // Key, session, child: each may only take away.
    const wide = (await send('POST', '/api/sessions', { tools: { allow: ['*'] } }, key)).body;
    const child = (await send('POST', '/api/sessions', { tools: { allow: ['*'] } }, wide.token)).body;
    for (const { token } of [wide, child]) {
      expect((await call(token, 'two__echo')).body.error.code).toBe('TOOL_NOT_ALLOWED');
      expect((await call(token, 'one__crash')).body.error.code).toBe('TOOL_NOT_ALLOWED');
      expect((await call(token, 'one__echo', { text: 'yes' })).body.result).toBe('yes');
    }
    await send('PATCH', `/api/sessions/${wide.id}`, { tools: {} }, key);
    expect((await call(wide.token, 'two__echo')).body.error.code).toBe('TOOL_NOT_ALLOWED');
  });

  test('gives its sessions folders of their own, and no others', async () => {
    const { key } = await makeKey({});
    const { token, id } = (await send('POST', '/api/sessions', { folders: { write: ['.'] } }, key)).body;
    await send('PUT', '/api/documents/mine.txt', { content: 'mine' }, token);
    const seen = await send('GET', '/api/documents?folder=.', undefined, token);
    expect(JSON.stringify(seen.body)).toContain('mine.txt');
    const outside = await send('GET', `/api/documents/${encodeURIComponent('../../x')}`, undefined, token);
    expect(outside.status).toBe(403);
    const other = (await send('POST', '/api/sessions', { folders: { read: ['.'] } }, key)).body;
    const elsewhere = await send('GET', `/api/documents/sessions/${id}/mine.txt`, undefined, other.token);
    expect([403, 404]).toContain(elsewhere.status);
  });

  test('sees its own calls and sessions, as if there were no others', async () => {
    const [mine, theirs] = await Promise.all([makeKey({}), makeKey({})]);
    await call(mine.key, 'one__echo', { text: 'of-mine' });
    await call(theirs.key, 'one__echo', { text: 'of-theirs' });
    // Quotes left open must not swallow what is added to the filter.
    for (const q of ['', 'text:of "', 'principal:owner,*'].map(encodeURIComponent)) {
      const { body } = await send('GET', `/api/calls?q=${q}`, undefined, mine.key);
      expect(JSON.stringify(body)).not.toContain('of-theirs');
    }
    const [their] = (await send('GET', '/api/calls', undefined, theirs.key)).body.calls;
    expect(their.args).toContain('of-theirs');
    for (const path of [`/api/calls/${their.id}`, `/api/calls/${their.id}/result`])
      expect((await send('GET', path, undefined, mine.key)).status).toBe(404);
    const exported = await send('GET', '/api/calls/export', undefined, mine.key);
    expect(JSON.stringify(exported.body)).toContain('of-mine');
    expect(JSON.stringify(exported.body)).not.toContain('of-theirs');
    expect((await send('GET', '/api/stats', undefined, mine.key)).body.total.calls).toBe(1);
    const { sessions } = (await send('GET', '/api/sessions', undefined, mine.key)).body;
    expect(sessions).toHaveLength(1);
    const [session] = (await send('GET', '/api/sessions', undefined, theirs.key)).body.sessions;
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect(
        (await send(method, `/api/sessions/${session.id}`, method === 'PATCH' ? {} : undefined, mine.key))
          .status,
      ).toBe(404);
    expect((await call(mine.key, 'one__echo', {}, { 'x-session-id': session.id })).status).toBe(404);
  });

  test('that is revoked takes its sessions, their tokens and their processes with it', async () => {
    const { id, key } = await makeKey({});
    const session = (await send('POST', '/api/sessions', {}, key)).body;
    const pid = Number((await call(session.token, 'one__pid')).body.result);
    expect((await send('DELETE', `/api/keys/${id}`)).body).toEqual({ id, status: 'revoked' });
    for (const token of [key, session.token]) expect((await call(token, 'one__echo')).status).toBe(401);
    await eventually('its process is gone', () => !isAlive(pid));
    expect((await send('DELETE', `/api/keys/${id}`)).status).toBe(404);
  });

  test('whose time is over opens nothing, nor do the tokens of its sessions', async () => {
    const { key } = await makeKey({ ttl: 600 });
    const session = (await send('POST', '/api/sessions', {}, key)).body;
    await eventually('its time is over', async () => (await call(key, 'one__echo')).status === 401);
    expect((await call(session.token, 'one__echo')).status).toBe(401);
  });

  test('survives a restart, with its rights', async () => {
    const { key } = await makeKey({ tools: { allow: ['one__*'] } });
    const session = (await send('POST', '/api/sessions', { tools: { allow: ['*'] } }, key)).body;
    await running.stop(true);
    running = await startOrchestrator({ again: running });
    expect((await call(key, 'one__echo', { text: 'still' })).body.result).toBe('still');
    expect((await call(session.token, 'two__echo')).body.error.code).toBe('TOOL_NOT_ALLOWED');
  });

  test('of an admin may do what the owner may, but speaks in no session of another', async () => {
    const { key } = await makeKey({ admin: true });
    expect((await send('GET', '/api/mcp-config', undefined, key)).status).toBe(200);
    const low = await makeKey({});
    await call(low.key, 'one__echo', { text: 'seen' });
    const { body } = await send('GET', '/api/calls?q=seen', undefined, key);
    const [{ session }] = body.calls;
    expect((await call(key, 'one__echo', {}, { 'x-session-id': session })).status).toBe(404);
    expect((await send('DELETE', `/api/sessions/${session}`, undefined, key)).body.status).toBe('ended');
  });
});

/** What a key that is no admin's may reach; all else, also what will be added, is refused. */
const MAY = [
  /^(get|put|post|patch|delete) \/api\/(documents|folders|glob|search|execute|upload|versions|restore|commands)/,
  /^post (\/api)?(\/s\/\{session\})?\/tools\//,
  /^post \/api\/s\/\{session\}\/tools\//,
  /^post \/api\/(mcp|custom|virtual)\/execute$/,
  /^(get|post|delete) \/mcp(\/\{server\})?$/,
  /^get \/api\/tools(\/search|\/\{name\})?$/,
  /^(get|post) \/api\/sessions$/,
  /^(get|patch|delete) \/api\/sessions\/\{id\}$/,
  /^(post|delete) \/api\/sessions\/\{id\}\/(tools|tokens)(\/\{name\})?$/,
  /^get \/api\/calls(\/export|\/\{id\}|\/\{id\}\/result)?$/,
  /^get \/api\/stats$/,
  // The agent, for runs of its own; another's look missing.
  /^(get|post) \/api\/agent\/runs(\/\{id\}(\/(events|cancel))?)?$/,
  /^(get|post|delete) \/api\/agent\/conversations(\/\{id\}.*)?$/,
  /^get \/api\/agent\/backends$/,
  // For accounts of one's own; what all use is refused (tests/api/oauth-attacks.test.ts).
  /^(get|post) \/api\/oauth\/(start|callback|status|logout)$/,
];

verifies('keys.least-privilege', async () => {
  const { key } = await makeKey({});
  const { paths } = (await send('GET', '/api/openapi.json')).body;
  const wrong: string[] = [];
  let refused = 0;
  for (const [path, methods] of Object.entries<Record<string, { security?: unknown }>>(paths)) {
    for (const [method, route] of Object.entries(methods)) {
      if (route.security) continue;
      const name = `${method} ${path}`;
      const may = MAY.some((pattern) => pattern.test(name));
      // Those open a stream that does not end.
      if (may && / (\/mcp|.*\/events$)/.test(name)) continue;
      const { status, body } = await send(
        method.toUpperCase(),
        path.replaceAll(/\{\w+\}/g, 'x'),
        method === 'get' || method === 'delete' ? undefined : { command: 'touch x' },
        key,
      );
      const isRefused = status === 403 && body.error.code === 'FORBIDDEN';
      if (isRefused === may) wrong.push(`${name} ${status}`);
      if (isRefused) refused += 1;
    }
  }
  expect(wrong).toEqual([]);
  expect(refused).toBeGreaterThan(15);
});
