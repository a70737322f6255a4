import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
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

describe('once the orchestrator ends, though a call still runs', () => {
  /** An orchestrator that is told to end in mid-call, after `arrive` has written to it. */
  async function ending(arrive: (other: RunningOrchestrator) => Promise<void>) {
    const other = await startOrchestrator();
    let isOver = false;
    const slow = fetch(`${other.url}/tools/mcp/bare/slow`, {
      method: 'POST',
      headers: other.headers(),
      body: '{"ms":3000}',
    }).then((response) => response.json());
    void slow.finally(() => {
      isOver = true;
    });
    await eventually('it runs', async () => {
      const response = await fetch(`${other.url}/api/calls`, { headers: other.headers() });
      return ((await response.json()) as { running: unknown[] }).running.length === 1;
    });
    await arrive(other);
    other.process.kill('SIGTERM');
    other.process.kill('SIGCONT');
    const isRefused = () =>
      RawConnection.open(other.port).then(
        ({ socket }) => !socket.destroy(),
        () => true,
      );
    await eventually('it takes no more', isRefused);
    return {
      async end() {
        expect(isOver).toBe(false);
        expect(await slow).toMatchObject({ result: 'slept' });
        await other.stop();
      },
    };
  }

  test('a connection in mid-request is closed with its answer', async () => {
    const connections: { connection: RawConnection; rest: string }[] = [];
    const other = await ending(async (other) => {
      const health = `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${other.port}\r\n\r\n`;
      const call = echoRequest(other, 'cut');
      // In the head, in the body, and in the body of a request that came with the one before it.
      for (const [request, cut] of [
        [health, health.length - 2],
        [call, call.length - 3],
        [call + call, call.length * 2 - 3],
      ] as const) {
        const connection = await RawConnection.open(other.port);
        await connection.send(request.slice(0, cut));
        await connection.arrived({ read: true });
        connections.push({ connection, rest: request.slice(cut) });
      }
    });
    expect(await connections[2]?.connection.next()).toMatchObject({ status: 200 });
    for (const { connection, rest } of connections) {
      await connection.send(rest);
      expect(await connection.next()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    }
    await other.end();
  });

  test('a request that has come but was not read yet is answered', async () => {
    let connection: RawConnection | undefined;
    const other = await ending(async (other) => {
      // It stands still, and goes on with the signal as the first thing.
      other.process.kill('SIGSTOP');
      connection = await RawConnection.open(other.port);
      await connection.send(echoRequest(other, 'unread'));
      await connection.arrived({ read: false });
    });
    expect(textOf(await connection?.next())).toBe('unread');
    await other.end();
  });
});
