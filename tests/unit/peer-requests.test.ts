import { expect, test } from '@jest/globals';
import { Peer, type PeerEvents } from '@mcpbridge/orchestrator/providers/mcp/peer/peer.js';
import type { Transport, TransportEvents } from '@mcpbridge/orchestrator/providers/mcp/transport.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { type JsonObject, RpcFailure, type RpcNotification } from '@mcpbridge/shared/json-rpc.js';
import { TestCaller } from '../support/upstreams.js';

/** The far end, in the test's hands. */
class Wire implements Transport {
  readonly sent: JsonObject[] = [];
  private events: TransportEvents | undefined;

  listen(events: TransportEvents): void {
    this.events = events;
  }

  send(message: object): void {
    this.sent.push({ ...message });
  }

  agreed(): void {}

  async close(): Promise<void> {
    this.end('closed');
  }

  answer(id: unknown, rest: JsonObject): void {
    this.events?.message({ jsonrpc: '2.0', id, ...rest });
  }

  say(method: string, params?: JsonObject, id?: unknown): void {
    this.events?.message({ jsonrpc: '2.0', method, ...(params ? { params } : {}), ...(id ? { id } : {}) });
  }

  fail(id: number | undefined, error: AppError): void {
    this.events?.failed(id, error);
  }

  end(reason: string): void {
    this.events?.closed(new AppError('CONNECTION_LOST', reason));
  }

  spend(): void {
    this.events?.spent();
  }
}

function start(events: Partial<PeerEvents> = {}) {
  const wire = new Wire();
  const notified: RpcNotification[] = [];
  const peer = new Peer(wire, {
    notification: (notification) => notified.push(notification),
    question: async () => ({}),
    spent: () => undefined,
    closed: () => undefined,
    server: 'far',
    bounded: () => undefined,
    ...events,
  });
  return { wire, peer, notified };
}

/** Lets what is settled be heard. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('requests get ids of the connection, and each the answer to its own', async () => {
  const { wire, peer } = start();
  const first = peer.request('a', { x: 1 });
  const second = peer.request('b', undefined);
  expect(wire.sent).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'a', params: { x: 1 } },
    { jsonrpc: '2.0', id: 2, method: 'b' },
  ]);
  wire.answer(2, { result: 'two' });
  wire.answer(1, { result: 'one' });
  expect(await Promise.all([first, second])).toEqual(['one', 'two']);
});

test('an error of the upstream rejects with its code, message and data unchanged', async () => {
  const { wire, peer } = start();
  const answer = peer.request('a', {});
  wire.answer(1, { error: { code: -32042, message: 'Log in first', data: { url: 'https://x' } } });
  const failure = await answer.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RpcFailure);
  expect(failure instanceof RpcFailure && failure.toError()).toEqual({
    code: -32042,
    message: 'Log in first',
    data: { url: 'https://x' },
  });
});

test('late, doubled and foreign answers change nothing', async () => {
  const { wire, peer } = start();
  const controller = new AbortController();
  const cancelled = peer.request('a', {}, { signal: controller.signal });
  controller.abort();
  await expect(cancelled).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  wire.answer(1, { result: 'late' });
  wire.answer(99, { result: 'foreign' });
  wire.answer(null, { error: { code: -32700, message: 'what?' } });
  const next = peer.request('b', {});
  wire.answer(2, { result: 'right' });
  wire.answer(2, { result: 'again' });
  expect(await next).toBe('right');
  expect(peer.isIdle).toBe(true);
});

test('a cancelled request tells the upstream its own id and the reason', async () => {
  const { wire, peer } = start();
  const controller = new AbortController();
  peer.request('first', {});
  const request = peer.request('tools/call', {}, { signal: controller.signal });
  controller.abort(new AppError('CALL_TIMEOUT', 'It took too long.'));
  await expect(request).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
  expect(wire.sent.at(-1)).toEqual({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 2, reason: 'It took too long.' },
  });
});

test('an answered request leaves nothing at the signal', async () => {
  const { wire, peer } = start();
  const controller = new AbortController();
  const answer = peer.request('a', {}, { signal: controller.signal });
  wire.answer(1, { result: 1 });
  await answer;
  controller.abort();
  expect(wire.sent).toHaveLength(1);
});

test('initialize is never cancelled at the upstream', async () => {
  const { wire, peer } = start();
  const controller = new AbortController();
  const request = peer.request('initialize', {}, { signal: controller.signal });
  controller.abort();
  await expect(request).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  expect(wire.sent).toHaveLength(1);
});

test("progress is asked for with a token of the connection's own, and heard without it", async () => {
  const { wire, peer } = start();
  const heard: JsonObject[] = [];
  const caller = new TestCaller('s');
  const origin = { caller, listener: { progress: (params: JsonObject) => heard.push(params) } };
  const answer = peer.request('tools/call', { name: 'x', _meta: { 'ex.org/a': 1 } }, { origin });
  expect(wire.sent[0]?.params).toEqual({ name: 'x', _meta: { 'ex.org/a': 1, progressToken: 1 } });
  wire.say('notifications/progress', { progressToken: 1, progress: 5, 'x-own': true });
  wire.say('notifications/progress', { progressToken: 2, progress: 6 });
  wire.answer(1, { result: {} });
  await answer;
  wire.say('notifications/progress', { progressToken: 1, progress: 7 });
  expect(heard).toEqual([{ progress: 5, 'x-own': true }]);
});

test('without a listener no progress is asked for', () => {
  const { wire, peer } = start();
  peer.request('tools/call', { name: 'x' }, { origin: { caller: new TestCaller('s') } });
  expect(wire.sent[0]?.params).toEqual({ name: 'x' });
});

test('ping is answered by the connection itself', async () => {
  const { wire } = start({
    question: async () => {
      throw new Error('nobody should be asked');
    },
  });
  wire.say('ping', undefined, 'p1');
  await settled();
  expect(wire.sent).toEqual([{ jsonrpc: '2.0', id: 'p1', result: {} }]);
});

test('a question is answered with what comes of it: a result, an error with its data, or an internal error', async () => {
  const { wire } = start({
    async question(method) {
      if (method === 'good') return { fine: true };
      if (method === 'bad') throw new RpcFailure(-1, 'User rejected', { why: 'no' });
      throw new Error('boom');
    },
  });
  wire.say('good', {}, 'a');
  wire.say('bad', {}, 'b');
  wire.say('ugly', {}, 'c');
  await settled();
  expect(wire.sent).toEqual([
    { jsonrpc: '2.0', id: 'a', result: { fine: true } },
    { jsonrpc: '2.0', id: 'b', error: { code: -1, message: 'User rejected', data: { why: 'no' } } },
    { jsonrpc: '2.0', id: 'c', error: { code: -32603, message: 'boom' } },
  ]);
});

test('a question that the upstream withdraws is aborted, and gets no answer', async () => {
  let withdrawn = false;
  const { wire } = start({
    question: (_method, _params, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          withdrawn = true;
          reject(new Error('withdrawn'));
        });
      }),
  });
  wire.say('sampling/createMessage', {}, 'q7');
  wire.say('notifications/cancelled', { requestId: 'q7' });
  await settled();
  expect(withdrawn).toBe(true);
  expect(wire.sent).toEqual([]);
});

test('other notifications are passed on as they are', () => {
  const { wire, notified } = start();
  wire.say('notifications/resources/updated', { uri: 'x', 'x-own': 1 });
  expect(notified).toEqual([
    { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'x', 'x-own': 1 } },
  ]);
});

test('the end of the connection rejects all that wait, and all that come later', async () => {
  const { wire, peer } = start();
  const waiting = [peer.request('a', {}), peer.request('b', {})];
  wire.end('it is gone');
  for (const request of [...waiting, peer.request('c', {})]) {
    await expect(request).rejects.toMatchObject({ code: 'CONNECTION_LOST', message: 'it is gone' });
  }
});

test('a failure that names no request is that of the only one, and of none when there are more', async () => {
  const { wire, peer } = start();
  const tooLarge = new AppError('RESULT_TOO_LARGE', 'too large');
  const only = peer.request('a', {});
  wire.fail(undefined, tooLarge);
  await expect(only).rejects.toBe(tooLarge);
  const pair = [peer.request('b', {}), peer.request('c', {})];
  wire.fail(undefined, tooLarge);
  wire.answer(2, { result: 'b' });
  wire.answer(3, { result: 'c' });
  expect(await Promise.all(pair)).toEqual(['b', 'c']);
});

test('a spent connection answers what is under way, then closes', async () => {
  let ends = 0;
  const { wire, peer } = start({
    closed: () => {
      ends += 1;
    },
  });
  const under = peer.request('a', {});
  wire.spend();
  expect(ends).toBe(0);
  wire.answer(1, { result: 'still' });
  expect(await under).toBe('still');
  expect(ends).toBe(1);
});

test('requests of one session are cancelled, those of others are not', async () => {
  const { wire, peer } = start();
  const of = (sessionId: string) =>
    peer.request('tools/call', {}, { origin: { caller: new TestCaller(sessionId) } });
  const [mine, yours] = [of('mine'), of('yours')];
  peer.cancelAll((origin) => origin?.caller.sessionId === 'mine', new AppError('CALL_CANCELLED', 'ended'));
  await expect(mine).rejects.toThrow('ended');
  wire.answer(2, { result: 'kept' });
  expect(await yours).toBe('kept');
});
