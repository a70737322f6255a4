import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { dataFrame } from '@mcpbridge/shared/channel-frames.js';
import { ChannelPeer } from '../support/channel-peer.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { echoRequest } from '../support/raw-http.js';
import { featuresServer } from '../support/road.js';
import { Trace } from '../support/trace.js';

// What an orchestrator does on a connection with channels, frame by frame.

let running: RunningOrchestrator;
let peer: ChannelPeer;
beforeEach(async () => {
  running = await startOrchestrator();
  peer = await connected(running);
});
afterEach(async () => {
  peer.socket.destroy();
  await running.stop();
});

const socketOf = ({ home, port }: RunningOrchestrator) => join(home, `${port}.sock`);
async function connected(other: RunningOrchestrator): Promise<ChannelPeer> {
  const opened = await ChannelPeer.open({ path: socketOf(other) });
  if (!opened) throw new Error('There are no channels.');
  return opened;
}

const textOf = ({ body }: { body: string }) => JSON.parse(body).result;
const slowRequest = (other: RunningOrchestrator, ms: number) => callRequest(other, 'bare/slow', { ms });
function callRequest(other: RunningOrchestrator, tool: string, args: object): string {
  const body = JSON.stringify(args);
  return `POST /tools/mcp/${tool} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${other.token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

test('calls on many channels are answered each on its own, a quick one before a slow one', async () => {
  await peer.send(0, slowRequest(running, 300));
  for (let id = 1; id <= 100; id++) await peer.send(id, echoRequest(running, `text ${id}`));
  for (let id = 100; id >= 1; id--) expect(textOf(await peer.answer(id))).toBe(`text ${id}`);
  expect(textOf(await peer.answer(0))).toBe('slept');
  expect(peer.order.at(-1)).toBe(0);
});

test('a channel serves one request after the other, as a connection does', async () => {
  await peer.send(7, echoRequest(running, 'first') + echoRequest(running, 'second'));
  expect(textOf(await peer.answer(7))).toBe('first');
  expect(textOf(await peer.answer(7))).toBe('second');
  await peer.send(7, echoRequest(running, 'third'));
  expect(textOf(await peer.answer(7))).toBe('third');
});

test('frames mean the same wherever they are cut', async () => {
  const bytes = Buffer.concat([1, 2].map((id) => dataFrame(id, echoRequest(running, `text ${id}`))));
  for (let cut = 1; cut < bytes.length; cut += 7) {
    const other = await connected(running);
    await other.sendBytes(bytes.subarray(0, cut));
    await new Promise((resolve) => setImmediate(resolve));
    await other.sendBytes(bytes.subarray(cut));
    expect([textOf(await other.answer(1)), textOf(await other.answer(2))]).toEqual(['text 1', 'text 2']);
    other.socket.destroy();
  }
});

test('each request is judged as one that comes by itself: without a token, or from another origin, it is refused', async () => {
  await peer.send(1, echoRequest(running, 'a').replace(running.token, 'wrong'));
  expect((await peer.answer(1)).status).toBe(401);
  await peer.send(2, echoRequest(running, 'b', ['Origin: https://elsewhere.example']));
  expect((await peer.answer(2)).status).toBe(403);
  await peer.send(3, echoRequest(running, 'c'));
  expect(textOf(await peer.answer(3))).toBe('c');
});

test('what is no plain call closes its channel with nothing begun, and the others go on', async () => {
  const odd: Record<string, string> = {
    'no call': 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'a body in chunks': `POST /tools/mcp/bare/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two lengths': echoRequest(running, 'x').replace('\r\n\r\n', '\r\nContent-Length: 3\r\n\r\n'),
    'no HTTP': 'hello\r\n\r\n',
    'half a head': 'POST /tools/mcp/bare/echo HTTP/1.1\r\n',
  };
  for (const [at, [what, request]] of Object.entries(odd).entries()) {
    await peer.send(at, request + echoRequest(running, 'smuggled'));
    expect([what, await peer.ended(at), peer.texts.get(at)]).toEqual([what, 'close', undefined]);
    // It stays closed.
    await peer.send(at, echoRequest(running, 'late'));
  }
  await peer.send(100, echoRequest(running, 'well'));
  expect(textOf(await peer.answer(100))).toBe('well');
  const calls = await fetch(`${running.url}/api/calls`, { headers: running.headers() });
  const { calls: all } = (await calls.json()) as { calls: { tool: string }[] };
  expect(all).toHaveLength(1);
});

describe('of what is under way', () => {
  let trace: Trace;
  let other: RunningOrchestrator;
  let one: ChannelPeer;
  beforeEach(async () => {
    trace = await Trace.make();
    other = await startOrchestrator({ servers: { all: featuresServer({ TRACE_FILE: trace.file }) } });
    one = await connected(other);
  });
  afterEach(async () => {
    one.socket.destroy();
    await other.stop();
  });

  test('a channel that is closed cancels its call at the server, and no other', async () => {
    await one.send(1, callRequest(other, 'all/hang', {}));
    await trace.saw('started hang');
    await one.send(2, callRequest(other, 'all/slow', { ms: 300 }));
    await one.close(1);
    await trace.saw('cancelled');
    expect((await one.answer(2)).status).toBe(200);
    expect(one.texts.get(1)).toBe(undefined);
  });

  test('a connection that is lost cancels all its calls', async () => {
    for (const id of [1, 2, 3]) await one.send(id, callRequest(other, 'all/hang', {}));
    await trace.saw('started hang', 3);
    one.socket.destroy();
    await trace.saw('cancelled', 3);
  });
});

test('whoever sends no frames, or opens channels without end, loses the connection', async () => {
  await peer.sendBytes(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  await eventually('the connection is cut', () => peer.isOver);
  const greedy = await connected(running);
  for (let id = 0; id < 1100 && !greedy.isOver; id++) await greedy.send(id, slowRequest(running, 60_000));
  await eventually('the connection is cut', () => greedy.isOver);
});

test('channels are not offered by TCP', async () => {
  expect(await ChannelPeer.open({ port: running.port })).toBe(undefined);
});

test('an orchestrator that ends answers what runs, begins nothing more, and says so', async () => {
  await peer.send(1, slowRequest(running, 1500));
  await peer.send(2, echoRequest(running, 'idle'));
  await peer.answer(2);
  running.process.kill('SIGTERM');
  expect(await peer.ended(2)).toBe('close');
  await peer.send(3, echoRequest(running, 'new'));
  expect(await peer.ended(3)).toBe('close');
  expect(textOf(await peer.answer(1))).toBe('slept');
  await eventually('the connection is closed', () => peer.isOver);
});
