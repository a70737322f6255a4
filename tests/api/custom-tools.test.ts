import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
  (await send('GET', '/api/tools?type=custom', undefined, token)).body.tools.map(
    (tool: { name: string }) => tool.name,
  );

verifies('sessions.custom-tools', async () => {
  const [one, two, three] = [await open(), await open(), await open()];
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
  expect([await namesFor(one.token), await namesFor(three.token)]).toEqual([['ask_me'], []]);
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

test('addresses beyond this machine, names of our own tools and odd ones are refused', async () => {
  const session = await open();
  for (const url of ['http://example.com/', 'http://169.254.169.254/', 'file:///etc/passwd', 'nonsense'])
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
