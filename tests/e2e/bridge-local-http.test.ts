import { EventEmitter, once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { inFolder, startBridge, toolList } from '../support/spawned-bridge.js';
import type { Frame, StdioPeer } from '../support/stdio-peer.js';

// What an HTTP server may do on the Unix socket, byte by byte; nobody listens on the TCP port beside it.

type Answer = (socket: Socket, request: number) => unknown;

let server: Server;
let answer: Answer;
/** Whole requests, as they came. */
let requests: string[];
let sockets: Socket[];

beforeEach(async () => {
  requests = [];
  sockets = [];
  server = createServer((socket) => {
    sockets.push(socket);
    let text = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const [head = '', body = ''] = text.split('\r\n\r\n');
      if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1])) return;
      requests.push(text);
      text = '';
      answer(socket, requests.length);
    });
  });
  await mkdir(inFolder('home'));
  server.listen(inFolder('home/1.sock'));
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const start = () =>
  startBridge({
    MCP_API_URL: 'http://127.0.0.1:1',
    MCP_TOOLS: toolList('echo'),
    MCP_CONNECT_TIMEOUT: '200ms',
  });

/** Text of a result whose content is `said`. */
const bodyOf = (said: string): string => JSON.stringify({ content: [{ type: 'text', text: said }] });
const whole = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const empty = (status: string): string => `HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`;
const textOf = (frame: Frame): string => frame.result.content[0].text;
const call = async (bridge: StdioPeer, text = ''): Promise<string> =>
  textOf(await bridge.callTool('echo', { text }));

/** More than a socket holds. */
const LONG = 'x'.repeat(3_000_000);

/** Closes it with the first bytes of the next request, and leaves the others in it. */
function closeUnread(socket: Socket): void {
  socket.removeAllListeners('data').pause();
  socket.once('readable', () => socket.destroy());
}

async function drip(socket: Socket, text: string): Promise<void> {
  for (const byte of Buffer.from(text)) {
    await new Promise((sent) => socket.write(Buffer.from([byte]), sent));
    await new Promise(setImmediate);
  }
}

describe('an answer is understood', () => {
  const body = bodyOf('hi');
  const [first, second] = [body.slice(0, 20), body.slice(20)];
  const chunked =
    `HTTP/1.1 200 OK\r\ntransfer-ENCODING: Chunked\r\n\r\n14;name=value\r\n${first}\r\n` +
    `${second.length.toString(16).toUpperCase()}\r\n${second}\r\n0\r\nTrailer: 1\r\n\r\n`;
  const answers = {
    'with a length': whole(body),
    'with names in any case and blanks': `HTTP/1.1 200\r\ncontent-LENGTH:  ${body.length} \r\nX-A:\r\n\r\n${body}`,
    'in chunks, with extensions and trailers': chunked,
    'after an interim one': `HTTP/1.1 100 Continue\r\n\r\n${whole(body)}`,
  };

  test.each(Object.entries(answers))('%s, whole and byte by byte', async (_, text) => {
    const bridge = start();
    answer = (socket) => socket.write(text);
    expect(await call(bridge)).toBe('hi');
    answer = (socket) => drip(socket, text);
    expect(await call(bridge)).toBe('hi');
    expect(await call(bridge)).toBe('hi');
    expect(sockets).toHaveLength(1);
  });

  test('that ends with its connection, the next one comes over another', async () => {
    answer = (socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${body}`);
    const bridge = start();
    expect(await call(bridge)).toBe('hi');
    expect(await call(bridge)).toBe('hi');
    expect(sockets).toHaveLength(2);
  });

  test('that closes the connection after itself', async () => {
    answer = (socket) => socket.write(whole(body).replace('OK', 'OK\r\nConnection: Close'));
    const bridge = start();
    expect(await call(bridge)).toBe('hi');
    expect(await call(bridge)).toBe('hi');
    expect(sockets).toHaveLength(2);
  });

  test('without a body', async () => {
    answer = (socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    const bridge = start();
    expect(await call(bridge)).toBe('The tool ran and gave no output.');
    expect(await call(bridge)).toBe('The tool ran and gave no output.');
    expect(sockets).toHaveLength(1);
  });

  test('that refuses a request before all of it was sent', async () => {
    server.removeAllListeners('connection');
    const refusal = 'HTTP/1.1 413 Payload Too Large\r\nContent-Length: 9\r\n\r\ntoo large';
    server.on('connection', (socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.once('data', () => socket.pause().write(refusal));
    });
    const bridge = start();
    expect(await call(bridge, 'x'.repeat(10_000_000))).toMatch(/HTTP 413: too large.*BODY_TOO_LARGE/s);
    expect(await call(bridge, 'x'.repeat(10_000_000))).toMatch(/HTTP 413: too large.*BODY_TOO_LARGE/s);
    expect(sockets).toHaveLength(2);
  });
});

test('a request has its headers, and its body byte for byte', async () => {
  answer = (socket) => socket.write(whole(bodyOf('hi')));
  await call(start(), 'zwölf €');
  const [head = '', body = ''] = (requests[0] ?? '').split('\r\n\r\n');
  expect(head).toMatch(/^POST \/tools\/custom\/echo HTTP\/1\.1\r\nHost: localhost\r\n/);
  expect(head).toMatch(/\r\nContent-Type: application\/json\r\n/);
  expect(head).toMatch(new RegExp(`\r\nContent-Length: ${body.length}$`));
  expect(JSON.parse(Buffer.from(body, 'latin1').toString())).toEqual({ text: 'zwölf €' });
});

describe('a connection', () => {
  test('that is closed by the other end while nothing is asked is not used again', async () => {
    answer = (socket, request) => socket.end(whole(bodyOf(`${request}`)));
    const bridge = start();
    expect(await call(bridge)).toBe('1');
    expect(await call(bridge)).toBe('2');
    expect(bridge.stderr).toBe('');
  });

  test('that is closed with its request unread has carried nothing, so the call is sent again', async () => {
    server.once('connection', closeUnread);
    answer = (socket) => socket.write(whole(bodyOf('again')));
    expect(await call(start(), LONG)).toBe('again');
  });

  test('that was kept and is closed so is followed by a new one, however many were kept', async () => {
    answer = (_, request) => {
      if (request === 4) for (const one of sockets) one.write(whole(bodyOf('hi')));
    };
    const bridge = start();
    await Promise.all([call(bridge), call(bridge), call(bridge), call(bridge)]);
    sockets.forEach(closeUnread);
    answer = (socket) => socket.write(whole(bodyOf('again')));
    expect(await call(bridge, LONG)).toBe('again');
    expect(sockets).toHaveLength(5);
  });

  test.each([
    ['before the answer', ''],
    ['in the head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"content"'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"content"'],
    ['between chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n'],
  ])('that ends %s is lost, and the call is not sent twice', async (_, text) => {
    answer = (socket) => socket.end(text);
    expect(await call(start())).toMatch(/broke during "echo".*may or may not.*CONNECTION_LOST/s);
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n', /not HTTP/],
    ['no length', 'HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n', /no number/],
    ['no size of a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n', /without a size/],
    ['a head without end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}`, /head without end/],
  ])('that brings %s is given up, and the next call has another', async (_, text, said) => {
    const bridge = start();
    answer = (socket) => socket.write(text);
    expect(await call(bridge)).toMatch(said);
    answer = (socket) => socket.write(whole(bodyOf('hi')));
    expect(await call(bridge)).toBe('hi');
    expect(sockets).toHaveLength(2);
  });

  test('that says something unasked is not used again', async () => {
    answer = (socket) => socket.write(whole(bodyOf('hi')));
    const bridge = start();
    await call(bridge);
    const closed = once(sockets[0] as Socket, 'close');
    sockets[0]?.write('HTTP/1.1 408 ');
    await closed;
    expect(await call(bridge)).toBe('hi');
    expect(sockets).toHaveLength(2);
  });

  test('serves one call at a time, and as many as there are at once are kept', async () => {
    answer = (socket, request) => {
      if (request === 3) for (const one of sockets) one.write(whole(bodyOf('hi')));
      if (request > 3) socket.write(whole(bodyOf('more')));
    };
    const bridge = start();
    expect(await Promise.all([call(bridge), call(bridge), call(bridge)])).toEqual(['hi', 'hi', 'hi']);
    expect([await call(bridge), await call(bridge)]).toEqual(['more', 'more']);
    expect(sockets).toHaveLength(3);
  });

  test('of a cancelled call is closed', async () => {
    const bridge = start();
    const asked = new Promise<void>((resolve) => {
      answer = () => resolve();
    });
    bridge.send({ id: 'c', method: 'tools/call', params: { name: 'echo' } });
    await asked;
    const closed = once(sockets[0] as Socket, 'close');
    bridge.notify('notifications/cancelled', { requestId: 'c' });
    await closed;
    answer = (socket) => socket.write(whole(bodyOf('next')));
    expect(await call(bridge)).toBe('next');
  });

  test('on which a stream was refused serves the next request, also when the session of the stream ends', async () => {
    const bridge = startBridge({ MCP_API_URL: 'http://127.0.0.1:1' });
    const events = new EventEmitter();
    answer = (socket) => {
      const [head = '', body = ''] = requests.at(-1)?.split('\r\n\r\n') ?? [];
      if (head.startsWith('GET')) return events.emit('stream', socket.write(empty('405 No')));
      const { id, method } = JSON.parse(body);
      if (id === undefined) return socket.write(empty('202 Accepted'));
      const reply = whole(JSON.stringify({ jsonrpc: '2.0', id, result: { of: method } }));
      const send = () => socket.write(reply.replace('OK', 'OK\r\nContent-Type: application/json'));
      if (method === 'tools/call') events.emit('call', send);
      else send();
    };
    const refused = once(events, 'stream');
    await bridge.initialize();
    await refused;
    await bridge.request('tools/list');
    const called = once(events, 'call');
    const running = bridge.callTool('echo', {});
    const [finish] = await called;
    const { result } = await bridge.request('initialize', { protocolVersion: '2025-11-25' });
    expect(result).toEqual({ of: 'initialize' });
    finish();
    expect((await running).result).toEqual({ of: 'tools/call' });
  });
});
