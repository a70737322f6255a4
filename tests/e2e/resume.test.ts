import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { featuresServer, textOf } from '../support/road.js';
import { SseClient } from '../support/sse-client.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({ servers: { one: featuresServer({ TRACE_FILE: trace.file }) } });
});
afterAll(() => running.stop());

const call = (name: string, args: object = {}) => ({
  id: 1,
  method: 'tools/call',
  params: { name: `one__${name}`, arguments: args },
});
const question = { method: 'elicitation/create', params: { message: 'Go on?', requestedSchema: {} } };

test('a client whose connection breaks in mid-call comes back and gets what it missed', async () => {
  const client = await SseClient.initialize(running, { elicitation: {} });
  const stream = await client.post(call('ask', question));
  const asked = await stream.next();
  expect(asked?.message).toMatchObject({ method: 'elicitation/create' });
  await stream.cut();
  await client.post({ id: asked?.message?.id, result: { action: 'accept' } });
  await trace.saw('ended ask');

  const again = await client.get(asked?.id);
  const { message } = (await again.next()) ?? {};
  expect(textOf(message as object)).toContain('accept');
  expect(await again.next()).toBeUndefined();
});

test('an answer that takes long comes over a stream that begins with an event to come back by', async () => {
  const client = await SseClient.initialize(running);
  const stream = await client.post(call('slow', { ms: 300 }));
  const first = await stream.next({ withData: false });
  expect(first).toMatchObject({ id: expect.stringMatching(/^a\d+\.0$/), data: '', retry: '1000' });
  expect(textOf((await stream.next())?.message as object)).toBe('slept');
});

test('a client of an older revision gets no event without data', async () => {
  const client = await SseClient.initialize(running, {}, '2025-06-18');
  const answer = await client.post(call('slow', { ms: 300 }));
  expect(answer.response.headers.get('content-type')).toBe('application/json');
  const progress = call('progress', { steps: 1 });
  const stream = await client.post({
    ...progress,
    params: { ...progress.params, _meta: { progressToken: 7 } },
  });
  expect(await stream.next({ withData: false })).toMatchObject({
    message: { method: 'notifications/progress' },
  });
});

test('a client that names streams first gets every answer over one, and can come back for it', async () => {
  const client = await SseClient.initialize(running);
  const accept = { accept: 'text/event-stream, application/json' };
  const stream = await client.post(call('echo', { text: 'at once' }), accept);
  const first = await stream.next({ withData: false });
  expect(textOf((await stream.next())?.message as object)).toBe('at once');
  expect(await stream.next()).toBeUndefined();
  const again = await client.get(first?.id);
  expect(textOf((await again.next())?.message as object)).toBe('at once');
  const older = await SseClient.initialize(running, {}, '2025-06-18');
  const answer = await older.post(call('echo', { text: 'too' }), accept);
  expect(await answer.next({ withData: false })).toMatchObject({ message: { id: 1 } });
});

test('a request that says an older revision than its client did gets no event without data', async () => {
  const client = await SseClient.initialize(running);
  const version = { 'mcp-protocol-version': '2025-06-18' };
  const { response } = await client.post(call('slow', { ms: 300 }), version);
  expect(response.headers.get('content-type')).toBe('application/json');
});

test('the call of a client that does not come back is cancelled', async () => {
  const client = await SseClient.initialize(running, { elicitation: {} });
  const before = trace.count('cancelled');
  const stream = await client.post(call('ask', question));
  await stream.next();
  await stream.cut();
  await trace.saw('cancelled', before + 1);
});

test('what comes unasked while the client is away is told when it comes back, and nothing twice', async () => {
  const client = await SseClient.initialize(running);
  await client.post({ id: 2, method: 'tools/list' });
  const stream = await client.get();
  await client.post({ ...call('log_after', { text: 'seen' }), id: 3 });
  const seen = await stream.next();
  expect(seen?.message).toMatchObject({ params: { data: 'seen' } });
  await stream.cut();
  await client.post({ ...call('log_after', { text: 'missed' }), id: 4 });
  await trace.saw('ended log_after', 2);
  for (const resume of [seen?.id, seen?.id]) {
    const again = await client.get(resume);
    expect((await again.next())?.message).toMatchObject({ params: { data: 'missed' } });
    await again.cut();
  }
});

test('an event of a stream that is not kept is refused in a sentence', async () => {
  const client = await SseClient.initialize(running);
  const { response } = await client.get('a99.1');
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('nothing to resume after event \\"a99.1\\"');
});

test('the official client comes back by itself when its connections are cut in mid-call', async () => {
  const { url, cut, server } = await startProxy(running.port);
  const client = new Client({ name: 'test', version: '1.0.0' });
  const auth = { requestInit: { headers: running.headers() } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), auth));
  const answering = once(server, 'answering');
  const result = client.callTool({ name: 'one__slow', arguments: { ms: 600 } });
  await answering;
  cut();
  expect(textOf({ result: await result } as object)).toBe('slept');
  await client.close();
  cut();
  server.close();
});

/** Passes bytes on; `answering` tells that the stream of an answer has begun. */
async function startProxy(port: number): Promise<{ url: string; cut(): void; server: Server }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
    far.on('data', (chunk) => String(chunk).includes('id: a') && server.emit('answering'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut, server };
}
