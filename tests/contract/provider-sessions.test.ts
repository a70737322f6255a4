import { afterEach, describe, expect, test } from '@jest/globals';
import type { McpProvider } from '@mcpbridge/orchestrator/providers/mcp/mcp-provider.js';
import { RpcFailure, type RpcNotification } from '@mcpbridge/shared/json-rpc.js';
import { resultText, type ToolResult } from '@mcpbridge/shared/tools.js';
import { eventually, isAlive } from '../support/processes.js';
import { callTool, TestCaller, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
afterEach(() => upstreams.close());

const { signal } = new AbortController();
const resultOf = async (result: Promise<ToolResult>) => resultText(await result);
const pidOf = async (provider: McpProvider, caller: TestCaller) =>
  Number(await textOf(provider, caller, 'pid'));

describe('isolation', () => {
  test('each session has its own process and state', async () => {
    const provider = upstreams.features();
    const [a, b] = [new TestCaller('a'), new TestCaller('b')];
    expect(await textOf(provider, a, 'counter')).toBe('1');
    expect(await textOf(provider, b, 'counter')).toBe('1');
    expect(await textOf(provider, a, 'counter')).toBe('2');
  });

  test('a shared server has one process for all sessions and for listing', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file }, { isolation: 'shared' });
    await provider.refresh();
    expect(await textOf(provider, new TestCaller('a'), 'counter')).toBe('1');
    expect(await textOf(provider, new TestCaller('b'), 'counter')).toBe('2');
    expect(trace.pids()).toHaveLength(1);
  });

  test('twenty first calls of a session start one process', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    const caller = new TestCaller('a');
    await Promise.all(Array.from({ length: 20 }, () => textOf(provider, caller, 'echo')));
    expect(trace.pids()).toHaveLength(1);
  });

  test("the server is told the capabilities of the session's client, and while listing that all can be asked", async () => {
    const provider = upstreams.features();
    const caller = new TestCaller('a', { elicitation: { form: {} }, 'x-own': {} });
    expect(JSON.parse(await textOf(provider, caller, 'capabilities'))).toEqual(caller.capabilities);
    const shared = upstreams.features({}, { isolation: 'shared' });
    expect(Object.keys(JSON.parse(await textOf(shared, caller, 'capabilities')))).toEqual([
      'roots',
      'sampling',
      'elicitation',
    ]);
  });

  test("a client's progress token and protocol envelope stay on its side, its other _meta passes", async () => {
    const provider = upstreams.features();
    const meta = {
      traceparent: '00-1',
      progressToken: 'theirs',
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const result = await callTool(provider, new TestCaller('a'), 'mirror', { args: { x: 1 }, meta });
    const [{ text }] = result.content as [{ text: string }];
    expect(JSON.parse(text)).toEqual({ name: 'mirror', arguments: { x: 1 }, _meta: { traceparent: '00-1' } });
  });
});

describe('messages that belong to nobody or somebody', () => {
  test('a log line goes to the one call that runs, else to the session, never to another session', async () => {
    const provider = upstreams.features();
    const [a, b] = [new TestCaller('a'), new TestCaller('b')];
    await textOf(provider, b, 'echo');
    const heard: unknown[] = [];
    const listener = { notification: (notification: object) => heard.push(notification) };
    await callTool(provider, a, 'log', { args: { text: 'during' }, listener });
    await callTool(provider, a, 'log', { args: { text: 'no listener' } });
    await callTool(provider, a, 'log_after', { args: { text: 'after' }, listener });
    await eventually('the late line arrives', () => a.told.length === 2);
    const line = (data: string) => ({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data },
    });
    expect(heard).toEqual([line('during')]);
    expect(a.told).toEqual([line('no listener'), line('after')]);
    expect(b.told).toEqual([]);
  });

  test('with two calls running a log line goes to the session', async () => {
    const provider = upstreams.features();
    const a = new TestCaller('a');
    const heard: unknown[] = [];
    const listener = { notification: (notification: object) => heard.push(notification) };
    await Promise.all([
      callTool(provider, a, 'slow', { args: { ms: 200 }, listener }),
      callTool(provider, a, 'log', { args: { text: 'whose?' }, listener }),
    ]);
    expect(heard).toEqual([]);
    expect(a.told).toHaveLength(1);
  });

  test('on a shared server a log line with two calls running is shown to nobody', async () => {
    const provider = upstreams.features({}, { isolation: 'shared' });
    const [a, b] = [new TestCaller('a'), new TestCaller('b')];
    const heard: unknown[] = [];
    const listener = { notification: (notification: object) => heard.push(notification) };
    await Promise.all([
      callTool(provider, a, 'slow', { args: { ms: 200 }, listener }),
      callTool(provider, b, 'log', { args: { text: 'secret' }, listener }),
    ]);
    expect([...heard, ...a.told, ...b.told]).toEqual([]);
  });

  test('on a shared server the log line of the only session that has used it is shown to it, and of no other', async () => {
    const provider = upstreams.features({}, { isolation: 'shared' });
    const [a, b] = [new TestCaller('a'), new TestCaller('b')];
    const heard: unknown[] = [];
    const listener = { notification: (notification: object) => heard.push(notification) };
    await callTool(provider, a, 'log', { args: { text: 'alone' }, listener });
    await callTool(provider, a, 'log_after', { args: { text: 'late' } });
    await callTool(provider, b, 'slow', { args: { ms: 200 }, listener });
    expect(heard).toMatchObject([{ params: { data: 'alone' } }]);
    expect([a.told, b.told]).toEqual([[], []]);
  });

  test('a question without a listener goes to the session', async () => {
    const provider = upstreams.features();
    const a = new TestCaller('a');
    a.answer = { roots: [{ uri: 'file:///a' }] };
    const answer = await textOf(provider, a, 'ask', { method: 'roots/list' });
    expect(JSON.parse(answer)).toEqual({ result: { roots: [{ uri: 'file:///a' }] } });
    expect(a.asked).toEqual([{ method: 'roots/list', params: undefined }]);
  });

  test('the error of whoever was asked reaches the server as it is', async () => {
    const provider = upstreams.features();
    const listener = {
      ask: async () => {
        throw new RpcFailure(-1, 'User rejected', { by: 'hand' });
      },
    };
    const result = await callTool(provider, new TestCaller('a'), 'ask', {
      args: { method: 'sampling/createMessage', params: {} },
      listener,
    });
    const [{ text }] = result.content as [{ text: string }];
    expect(JSON.parse(text)).toEqual({ error: { code: -1, message: 'User rejected', data: { by: 'hand' } } });
  });

  for (const ERA of ['legacy', 'modern'])
    test(`of a shared ${ERA} server a changed list is told to all who use it, an updated resource to those who subscribed`, async () => {
      const trace = await upstreams.trace();
      const provider = upstreams.features({ TRACE_FILE: trace.file, ERA }, { isolation: 'shared' });
      const [a, b, c] = [new TestCaller('a'), new TestCaller('b'), new TestCaller('c')];
      const options = { signal };
      const subscribe = (caller: TestCaller, uri: string, how = 'subscribe') =>
        provider.request(caller, `resources/${how}`, { uri }, options);
      const touched = async (uri: string) => {
        await textOf(provider, c, 'touch', { uri });
        return [a, b, c].map(({ told }) => told.splice(0).map(({ params }) => params?.uri ?? null));
      };
      for (const caller of [a, b]) await subscribe(caller, 'test://both');
      await subscribe(b, 'test://b');
      expect(await touched('test://both/below')).toEqual([['test://both/below'], ['test://both/below'], []]);
      expect(await touched('test://b')).toEqual([[], ['test://b'], []]);
      expect(await touched('test://beside')).toEqual([[], [], []]);
      // Whoever has not subscribed takes nothing from those who have.
      for (const caller of [a, c]) await subscribe(caller, 'test://both', 'unsubscribe');
      expect(await touched('test://both')).toEqual([[], ['test://both'], []]);
      await provider.endSession('b');
      expect(await touched('test://both')).toEqual([[], [], []]);
      await textOf(provider, c, 'change', { method: 'notifications/prompts/list_changed' });
      expect([a, b, c].map(({ told }) => told.length)).toEqual([1, 0, 1]);
    });

  const sure = { method: 'elicitation/create', params: { message: '?' } };

  test('on a shared server a question is asked of the only session that has used it, by that call or after it', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file }, { isolation: 'shared' });
    const a = new TestCaller('a');
    const asking = { args: sure, listener: { ask: async () => 'heard' } };
    expect(JSON.parse(await resultOf(callTool(provider, a, 'ask', asking)))).toEqual({ result: 'heard' });
    await callTool(provider, a, 'ask_after', { args: sure });
    expect(await trace.line(/^told/)).toBe('told {"result":{"action":"accept"}}');
    expect(a.asked).toEqual([sure]);
  });

  test('on a shared server that several sessions have used a question is asked of nobody, and both ends hear why', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file }, { isolation: 'shared' });
    const [a, b] = [new TestCaller('a'), new TestCaller('b')];
    const asked: unknown[] = [];
    const listener = { ask: async (method: string) => asked.push(method) };
    // Its question comes when it is over, and the only call that runs is another session's.
    await callTool(provider, a, 'ask_after', { args: sure, listener });
    await callTool(provider, b, 'slow', { args: { ms: 200 }, listener });
    await trace.line(/^told .*sessions that share it/);
    const alone = JSON.parse(await resultOf(callTool(provider, b, 'ask', { args: sure, listener })));
    expect(alone.error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('give it "isolation": "session"'),
    });
    expect([asked, a.asked, b.asked]).toEqual([[], [], []]);
    expect(provider.bounded).toMatchObject([{ what: 'questions', times: 2 }]);
  });

  test('a shared server that asks for roots hears of none: those of one session would be those of all', async () => {
    const provider = upstreams.features({}, { isolation: 'shared' });
    const a = new TestCaller('a');
    const answer = JSON.parse(await textOf(provider, a, 'ask', { method: 'roots/list' }));
    expect([answer, a.asked]).toEqual([{ result: { roots: [] } }, []]);
  });

  describe('of a server over HTTP, where each call has its own stream,', () => {
    /** Two sessions at once, each with a call that asks once both run and one that does not; what became of it by session. */
    async function both(method: string, env: Record<string, string> = {}) {
      const trace = await upstreams.trace();
      const server = await upstreams.httpServer({ TRACE_FILE: trace.file, ...env });
      const provider = upstreams.remote(`${server.url}/mcp`, {}, { isolation: 'shared' });
      await provider.refresh();
      const heard: Record<string, unknown[]> = { a: [], b: [], idle: [] };
      const listener = (whose: string) => ({
        async ask(asked: string, about: unknown) {
          heard[whose]?.push([asked, about]);
          return { by: whose };
        },
        notification: ({ params: said }: RpcNotification) => heard[whose]?.push(said?.data),
      });
      const callers = ['a', 'b'].map((id) => new TestCaller(id));
      const calls = callers.flatMap((caller) => {
        const { sessionId } = caller;
        const args = { method, params: { message: sessionId }, later: true };
        return [
          callTool(provider, caller, 'ask', { args, listener: listener(sessionId) }),
          callTool(provider, caller, 'log', { args: { text: sessionId }, listener: listener(sessionId) }),
          callTool(provider, caller, 'slow', { args: { ms: 100 }, listener: listener('idle') }),
        ];
      });
      await eventually('both are to ask', () => trace.matching(/^started ask/).length === 2);
      await Promise.all([...calls, textOf(provider, new TestCaller('c'), 'echo')]);
      return { heard, unasked: callers.flatMap(({ asked, told }) => [...asked, ...told]) };
    }

    test.each(['elicitation/create', 'sampling/createMessage', 'roots/list'])(
      'shared by all, %s and log lines go to the call that they belong to',
      async (method) => {
        const { heard, unasked } = await both(method);
        const own = (whose: string) => expect.arrayContaining([whose, [method, { message: whose }]]);
        expect(heard).toEqual({ a: own('a'), b: own('b'), idle: [] });
        expect([heard.a?.length, heard.b?.length, unasked]).toEqual([2, 2, []]);
      },
    );

    test('one that comes with no call is asked of nobody where several sessions share the server', async () => {
      const trace = await upstreams.trace();
      const server = await upstreams.httpServer({ TRACE_FILE: trace.file });
      const provider = upstreams.remote(`${server.url}/mcp`, {}, { isolation: 'shared' });
      const [a, b] = [new TestCaller('a'), new TestCaller('b')];
      await callTool(provider, a, 'ask_after', { args: sure });
      await callTool(provider, b, 'slow', { args: { ms: 200 } });
      await trace.line(/^told .*nobody who could be asked/);
      expect([a.asked, b.asked]).toEqual([[], []]);
    });

    test('it comes also by a stream that its server has ended for it to be polled', async () => {
      expect((await both(sure.method, { POLLED: '1' })).heard).toMatchObject({
        a: expect.arrayContaining([[sure.method, { message: 'a' }]]),
        b: expect.arrayContaining([[sure.method, { message: 'b' }]]),
        idle: [],
      });
    });
  });
});

describe('the end of a call and of a session', () => {
  test('a call whose caller goes away is cancelled at the upstream server, by the id it knows', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    const a = new TestCaller('a');
    await textOf(provider, a, 'echo');
    const controller = new AbortController();
    const call = callTool(provider, a, 'hang', { signal: controller.signal });
    const id = (await trace.line(/^started hang/)).split(' ')[2];
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    expect(await trace.line(/^cancelled/)).toBe(`cancelled ${id} The call was cancelled.`);
  });

  test('a session closed in mid-call cancels the call at the upstream server', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    const call = callTool(provider, new TestCaller('a'), 'hang');
    const failed = expect(call).rejects.toMatchObject({
      code: 'CALL_CANCELLED',
      message: 'The session ended.',
    });
    await trace.line(/^started hang/);
    await provider.endSession('a');
    await failed;
    expect(trace.matching(/^cancelled .* The session ended\./)).toHaveLength(1);
    expect(trace.pids().filter(isAlive)).toEqual([]);
  });

  test('on a shared server an ended session takes only its own calls with it', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file }, { isolation: 'shared' });
    const call = callTool(provider, new TestCaller('a'), 'hang');
    const failed = expect(call).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    const other = textOf(provider, new TestCaller('b'), 'slow', { ms: 300 });
    await trace.line(/^started hang/);
    await provider.endSession('a');
    await failed;
    expect(await other).toBe('slept');
    await trace.line(/^cancelled/);
    expect(trace.matching(/^cancelled/)).toHaveLength(1);
  });

  test('a session that ends while its server starts does not wait for it, and leaves no process', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file, NEVER_INITIALIZE: '1' });
    const call = callTool(provider, new TestCaller('a'), 'echo');
    const failed = expect(call).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    await trace.line(/^pid/);
    await provider.endSession('a');
    await failed;
    expect(provider.health).not.toMatchObject({ state: 'failed' });
    await provider.close();
    expect(trace.pids().filter(isAlive)).toEqual([]);
  });

  test('a caller that goes away while the server starts is told at once, and the others get the server', async () => {
    const provider = upstreams.features();
    const a = new TestCaller('a');
    const controller = new AbortController();
    const leaving = callTool(provider, a, 'counter', { signal: controller.signal });
    const staying = textOf(provider, a, 'counter');
    controller.abort();
    await expect(leaving).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    expect(await staying).toBe('1');
  });
});

describe('how many connections, and for how long', () => {
  test('an idle connection is closed, and the next call opens another', async () => {
    const provider = upstreams.features({}, { idleTimeoutMs: 100 });
    const a = new TestCaller('a');
    const first = await pidOf(provider, a);
    await eventually('the idle process is gone', () => !isAlive(first));
    expect(await pidOf(provider, a)).not.toBe(first);
    expect(provider.health).not.toMatchObject({ state: 'failed' });
  });

  test('a call in flight keeps its connection open', async () => {
    const provider = upstreams.features({}, { idleTimeoutMs: 50 });
    expect(await textOf(provider, new TestCaller('a'), 'slow', { ms: 400 })).toBe('slept');
  });

  test('a session that subscribed to a resource keeps its connection until it unsubscribes', async () => {
    const provider = upstreams.features({}, { idleTimeoutMs: 50 });
    const [a, b] = [new TestCaller('a'), new TestCaller('b')];
    const uri = 'test://a';
    await provider.request(a, 'resources/subscribe', { uri }, { signal });
    const [watching, idle] = [await pidOf(provider, a), await pidOf(provider, b)];
    await eventually('the connection without a subscription is closed', () => !isAlive(idle));
    expect(isAlive(watching)).toBe(true);
    await provider.request(a, 'resources/unsubscribe', { uri }, { signal });
    await eventually('the connection is closed', () => !isAlive(watching));
  });

  test('the connection that hears of changed tools stays', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file }, { idleTimeoutMs: 50 });
    await provider.refresh();
    const session = await pidOf(provider, new TestCaller('a'));
    await eventually("the session's process is gone", () => !isAlive(session));
    expect(trace.pids().filter(isAlive)).toHaveLength(1);
  });

  test('at the cap the connection that was idle longest makes room', async () => {
    const provider = upstreams.features({}, { maxConnections: 2 });
    const [a, b, c] = [new TestCaller('a'), new TestCaller('b'), new TestCaller('c')];
    const [first, second] = [await pidOf(provider, a), await pidOf(provider, b)];
    await textOf(provider, a, 'echo');
    await pidOf(provider, c);
    await eventually('the idle one is gone', () => !isAlive(second));
    expect(isAlive(first)).toBe(true);
  });

  test('at the cap with all connections in use a call says so and may be tried again', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file }, { maxConnections: 1 });
    const controller = new AbortController();
    const busy = callTool(provider, new TestCaller('a'), 'hang', { signal: controller.signal });
    await trace.line(/^started hang/);
    await expect(textOf(provider, new TestCaller('b'), 'echo')).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      retryable: true,
      message: 'Server "features" has all of its 1 connections in use; try again when a call has ended.',
    });
    controller.abort();
    await expect(busy).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    expect(await textOf(provider, new TestCaller('b'), 'echo', { text: 'now' })).toBe('now');
  });
});
