import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { echoRequest, RawConnection } from '../support/raw-http.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator();
});
afterAll(() => running.stop());

const opened: RawConnection[] = [];
async function connect(): Promise<RawConnection> {
  const connection = await RawConnection.open(running.port);
  opened.push(connection);
  return connection;
}
afterAll(() => {
  for (const { socket } of opened) socket.destroy();
});

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\n\r\n`;
const textOf = (answer: { body: string } | undefined) => JSON.parse(answer?.body ?? '{}').result;

test('requests that are sent before the last was answered are answered in their order', async () => {
  const connection = await connect();
  const texts = Array.from({ length: 60 }, (_, index) => `text ${index} ${'x'.repeat(index * 40)}`);
  await connection.send(texts.map((text) => echoRequest(running, text)).join(''));
  for (const text of texts) expect(textOf(await connection.next())).toBe(text);
});

test('a request means the same wherever it is cut', async () => {
  const text = 'grüße 🙂';
  const request = echoRequest(running, text);
  const cuts = Array.from({ length: request.length - 1 }, (_, index) => index + 1);
  for (let at = 0; at < cuts.length; at += 20) {
    const group = cuts.slice(at, at + 20).map(async (cut) => {
      const connection = await connect();
      await connection.send(request.slice(0, cut));
      await new Promise((resolve) => setImmediate(resolve));
      await connection.send(request.slice(cut));
      return textOf(await connection.next());
    });
    expect(new Set(await Promise.all(group))).toEqual(new Set([text]));
  }
});

test('calls and all other requests share a connection, in any order', async () => {
  const connection = await connect();
  await connection.send(echoRequest(running, 'first'));
  expect(textOf(await connection.next())).toBe('first');
  await connection.send(get('/health') + echoRequest(running, 'second') + get('/ready'));
  expect((await connection.next())?.status).toBe(200);
  expect(textOf(await connection.next())).toBe('second');
  expect((await connection.next())?.status).toBe(200);
  await connection.send(echoRequest(running, 'third'));
  expect(textOf(await connection.next())).toBe('third');
});

test('a call whose body comes in chunks, or after 100 Continue, is a call like others', async () => {
  const connection = await connect();
  const [head = '', body = ''] = echoRequest(running, 'chunked').split('\r\n\r\n');
  const chunked = head.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
  await connection.send(`${chunked}\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  expect(textOf(await connection.next())).toBe('chunked');

  const polite = await connect();
  const [start = '', rest = ''] = echoRequest(running, 'polite', ['Expect: 100-continue']).split('\r\n\r\n');
  await polite.send(`${start}\r\n\r\n`);
  expect((await polite.next())?.status).toBe(100);
  await polite.send(rest);
  expect(textOf(await polite.next())).toBe('polite');
});

test('a stream of events ends within its answer, and the connection goes on', async () => {
  const connection = await connect();
  await connection.send(echoRequest(running, 'streamed', ['Accept: text/event-stream']));
  const answer = await connection.next();
  expect(answer?.headers['content-type']).toBe('text/event-stream');
  expect(answer?.body).toContain('event: result');
  await connection.send(echoRequest(running, 'after'));
  expect(textOf(await connection.next())).toBe('after');
});

test('a request that could be read in two ways is refused, and nothing after it is served', async () => {
  const doubtful: Record<string, (request: string) => string> = {
    'two lengths': (request) => request.replace('\r\n\r\n', '\r\nContent-Length: 3\r\n\r\n'),
    'a length and chunks': (request) => request.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n'),
    'a signed length': (request) => request.replace('Content-Length: ', 'Content-Length: +'),
    'a hexadecimal length': (request) => request.replace('Content-Length: ', 'Content-Length: 0x'),
    'two lengths in one field': (request) =>
      request.replace(/Content-Length: (\d+)/, 'Content-Length: $1, $1'),
    'a space before the colon': (request) => request.replace('Content-Length:', 'Content-Length :'),
    'a folded field': (request) => request.replace('Host: ', 'X-Folded: a\r\n b\r\nHost: '),
    'a control character': (request) => request.replace('Host: ', 'X-Odd: a\0b\r\nHost: '),
    'a line feed alone': (request) => request.replace('Host: ', 'X-Odd: a\nContent-Length: 0\r\nHost: '),
    'a field without a name': (request) => request.replace('Host: ', ': a\r\nHost: '),
    'no host': (request) => request.replace(/Host: .*?\r\n/, ''),
  };
  for (const [what, spoil] of Object.entries(doubtful)) {
    const connection = await connect();
    await connection.send(spoil(echoRequest(running, 'doubtful')) + echoRequest(running, 'smuggled'));
    const answers = [await connection.next(), await connection.next()];
    expect([what, answers.map((answer) => answer?.status)]).toEqual([what, [400, undefined]]);
  }
});
