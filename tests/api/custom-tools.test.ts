import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLog } from '@mcpbridge/orchestrator/log.js';
import { openStore } from '@mcpbridge/orchestrator/store/store.js';
import { PLATFORM_TOOLS } from '@mcpbridge/shared/platform-tools.js';
import { verifies } from '../requirements.js';
import { type CallbackRequest, startCallback } from '../support/callback.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { SseClient } from '../support/sse-client.js';

type Callback = Awaited<ReturnType<typeof startCallback>>;

let running: RunningOrchestrator;
let left: Callback;
let right: Callback;
beforeAll(async () => {
  running = await startOrchestrator();
  const says = (who: string) =>
    startCallback(({ args }, response) => response.end(JSON.stringify({ from: who, ...args })));
  left = await says('left');
  right = await says('right');
});
afterAll(async () => {
  await running.stop();
  left.close();
  right.close();
});

async function send(method: string, path: string, body?: unknown, token = running.token) {
  const response = await fetch(running.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const open = async (policy: object = {}) => (await send('POST', '/api/sessions', policy)).body;
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
const register = ({ id, token }: { id: string; token: string }, url: string, name = 'ask_me') =>
  send('POST', `/api/sessions/${id}/tools`, { name, description: 'Asks', inputSchema, url }, token);
const call = (token: string, name = 'ask_me', args: object = {}) =>
  send('POST', `/api/tools/custom/${name}`, args, token);
const namesFor = async (token: string) =>
  (await send('GET', '/api/tools?type=custom', undefined, token)).body.tools
    .map((tool: { name: string }) => tool.name)
    .filter((name: string) => !PLATFORM_TOOLS.some(({ definition }) => definition.name === name));

verifies('sessions.custom-tools', async () => {
  const [one, two, three] = [await open(), await open(), await open()];
  const platform = await namesFor(three.token);
  expect((await register(one, left.url)).status).toBe(201);
  expect((await register(two, right.url)).status).toBe(201);
  const answers = [
    await call(one.token, 'ask_me', { text: 'a' }),
    await call(two.token, 'ask_me', { text: 'b' }),
  ];
  expect(answers.map(({ body }) => body.structuredContent)).toEqual([
    { from: 'left', text: 'a' },
    { from: 'right', text: 'b' },
  ]);
  expect([await namesFor(one.token), await namesFor(three.token)]).toEqual([
    ['ask_me', ...platform],
    platform,
  ]);
  expect((await call(three.token)).body.error.code).toBe('UNKNOWN_TOOL');
  expect((await call(one.token, 'ask_me', { text: 1 })).body.error.code).toBe('INVALID_ARGUMENTS');

  await send('DELETE', `/api/sessions/${one.id}/tools/ask_me`, undefined, one.token);
  expect((await call(one.token)).body.error.code).toBe('UNKNOWN_TOOL');
  expect((await call(two.token)).status).toBe(200);
});

test('requests are signed with the secret that the registration answered', async () => {
  const session = await open();
  const { secret } = (await register(session, left.url)).body;
  await call(session.token, 'ask_me', { text: 'signed' });
  const { headers, body } = left.requests.at(-1) as CallbackRequest;
  const expected = createHmac('sha256', secret).update(`${headers['x-mcpbridge-timestamp']}.${body}`);
  expect(headers['x-mcpbridge-signature']).toBe(`sha256=${expected.digest('hex')}`);
  expect(headers['x-session-id']).toBe(session.id);
  expect(headers.authorization).toBeUndefined();
});

test('redirects are not followed, failures are the tool’s, and an app that is gone is named', async () => {
  const session = await open();
  const odd = await startCallback(({ args }, response) => {
    if (args.text === 'redirect') response.writeHead(302, { location: left.url }).end();
    else response.writeHead(500).end('out of order');
  });
  await register(session, odd.url);
  const seen = left.requests.length;
  const redirected = await call(session.token, 'ask_me', { text: 'redirect' });
  expect(redirected.body.error).toMatchObject({ code: 'PROVIDER_ERROR' });
  expect(left.requests.length).toBe(seen);
  expect((await call(session.token)).body).toMatchObject({ success: false, result: 'out of order' });
  odd.close();
  expect((await call(session.token)).body.error).toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
    message: expect.stringContaining('"ask_me"'),
  });
});

test('an answer that does not end is cut off at 64 MiB, and the app sees that nobody reads on', async () => {
  const session = await open();
  const part = Buffer.alloc(1024 * 1024, 'x');
  let sent = 0;
  let closed = () => {};
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const endless = await startCallback((_request, response) => {
    const more = () => {
      do sent += part.length;
      while (response.writable && response.write(part));
    };
    response.on('close', closed).on('drain', more);
    more();
  });
  await register(session, endless.url);
  const { status, body } = await call(session.token);
  expect([status, body.error]).toEqual([
    502,
    expect.objectContaining({
      code: 'RESULT_TOO_LARGE',
      message: expect.stringContaining(`"ask_me" answered more than ${64 * 1024 * 1024} bytes`),
    }),
  ]);
  await gone;
  // What is under way in sockets comes on top.
  expect(sent).toBeLessThan(96 * 1024 * 1024);
  endless.close();
});

test('tools that are registered at once are all there, up to the 1,000 that a session may have', async () => {
  const session = await open();
  const numbered = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `tool_${from + index}`);
  const registerAll = (names: string[]) =>
    Promise.all(names.map(async (name) => (await register(session, left.url, name)).status));
  expect(new Set(await registerAll(numbered(0, 990)))).toEqual(new Set([201]));
  expect((await registerAll(numbered(990, 1010))).sort()).toEqual([
    ...Array(10).fill(201),
    ...Array(10).fill(400),
  ]);
  const own = (await namesFor(session.token)).filter((name: string) => name.startsWith('tool_'));
  expect(own).toHaveLength(1000);
  const refused = await register(session, left.url, 'one_more');
  expect(refused.body.error.message).toBe('A session has at most 1000 tools of its own.');
  // One that is there may be registered anew, and one that goes makes room.
  expect((await register(session, right.url, 'tool_0')).status).toBe(201);
  expect((await call(session.token, 'tool_0')).body.structuredContent).toEqual({ from: 'right' });
  await send('DELETE', `/api/sessions/${session.id}/tools/tool_1`, undefined, session.token);
  expect((await register(session, left.url, 'one_more')).status).toBe(201);
});

test('an app whose caller goes away is told by the end of its request', async () => {
  const session = await open();
  const caller = new AbortController();
  let closed = () => {};
  const gone = new Promise<void>((resolve) => (closed = resolve));
  const slow = await startCallback((_request, response) => {
    response.on('close', () => closed());
    caller.abort();
  });
  await register(session, slow.url);
  const calling = fetch(`${running.url}/api/tools/custom/ask_me`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session.token}` },
    body: '{}',
    signal: caller.signal,
  });
  await expect(calling).rejects.toThrow(/abort/);
  await gone;
  slow.close();
});

test('addresses beyond this machine, names of our own tools and odd ones are refused', async () => {
  const session = await open();
  for (const url of [
    'http://example.com/',
    'http://169.254.169.254/',
    'file:///etc/passwd',
    'ftp://127.0.0.1/x',
    'nonsense',
  ])
    expect([url, (await register(session, url)).status]).toEqual([url, 400]);
  expect((await register(session, left.url, 'get_api_spec')).status).toBe(409);
  for (const name of ['bare__echo', 'a b', '', 'x'.repeat(47)])
    expect([name, (await register(session, left.url, name)).status]).toEqual([name, 400]);
});

test('clients of the session hear that its tools changed', async () => {
  const session = await open();
  const client = await SseClient.initialize(running, {}, '2025-11-25', session.token);
  await client.post({ id: 1, method: 'tools/list' });
  const stream = await client.get();
  await register(session, left.url);
  const { message } = (await stream.next()) ?? {};
  expect(message).toMatchObject({ method: 'notifications/tools/list_changed' });
  await stream.cut();
});

verifies('sessions.restart', async () => {
  const session = await open({ tools: { allow: ['bare__echo', 'ask_me'] } });
  await register(session, left.url);
  await running.stop(true);
  running = await startOrchestrator({ again: running });
  const tools = (await send('GET', '/api/tools', undefined, session.token)).body.tools;
  expect(tools.map((tool: { name: string }) => tool.name)).toEqual(['ask_me', 'bare__echo']);
  expect((await call(session.token, 'ask_me', { text: 'still' })).body.structuredContent).toEqual({
    from: 'left',
    text: 'still',
  });
  const refused = await send('POST', '/api/mcp/execute', { tool_name: 'bare__slow' }, session.token);
  expect(refused.body.error.code).toBe('TOOL_NOT_ALLOWED');
});

test('with the end of a session its tools are gone from the store too', async () => {
  const session = await open();
  await register(session, left.url);
  await send('DELETE', `/api/sessions/${session.id}`);
  expect((await call(session.token)).status).toBe(401);
  const owner = await send('POST', `/api/s/${session.id}/tools/custom/ask_me`, {});
  expect(owner.body.error.code).toBe('SESSION_NOT_FOUND');
});

test('where CALLBACK_PORTS is set, the token of a session registers tools at those ports alone, the owner at any', async () => {
  const port = Number(new URL(left.url).port);
  await running.stop(true);
  running = await startOrchestrator({ again: running, env: { CALLBACK_PORTS: `1-9,${port}-${port}` } });
  const session = await open();
  expect((await register(session, left.url)).status).toBe(201);
  const refused = await register(session, right.url, 'other');
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    expect.stringContaining('CALLBACK_PORTS'),
  ]);
  expect((await register({ ...session, token: running.token }, right.url, 'other')).status).toBe(201);
});

test('the tools and tokens of a session go with its parent, though nobody has used it since a restart', async () => {
  const parent = await open();
  const child = await open({ parent: parent.id });
  const grandchild = await open({ parent: child.id });
  await register(grandchild, left.url);
  await running.stop(true);
  running = await startOrchestrator({ again: running });
  await send('DELETE', `/api/sessions/${parent.id}`);
  expect((await call(grandchild.token)).status).toBe(401);
  await running.stop(true);
  const store = await openStore(running.home, createLog('none'));
  expect(await store.sessionTools.of(grandchild.id)).toEqual([]);
  await store.close();
  running = await startOrchestrator({ again: running });
  expect((await call(child.token)).status).toBe(401);
  expect((await send('GET', `/api/sessions/${grandchild.id}`)).body.endedAt).toEqual(expect.any(String));
});
