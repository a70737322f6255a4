import { afterEach, describe, expect, test } from '@jest/globals';
import type { McpProvider } from '@mcpbridge/orchestrator/providers/mcp/mcp-provider.js';
import { RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import { resultText } from '@mcpbridge/shared/tools.js';
import { eventually, isAlive } from '../support/processes.js';
import { callTool, TestCaller, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
afterEach(() => upstreams.close());

const { signal } = new AbortController();
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

  test('on a shared server with two calls running a question is refused, with one it is asked of its session', async () => {
    const provider = upstreams.features({}, { isolation: 'shared' });
    const [a, b] = [new TestCaller('a'), new TestCaller('b')];
    const ask = { method: 'elicitation/create', params: { message: '?' } };
    const asking = () => callTool(provider, b, 'ask', { args: ask, listener: { ask: async () => 'heard' } });
    const [, refused, refusedToo] = await Promise.all([
      textOf(provider, a, 'slow', { ms: 200 }),
      textOf(provider, b, 'ask', ask),
      asking(),
    ]);
    expect(JSON.parse(refused)).toMatchObject({ error: { code: -32603 } });
    expect(JSON.parse(resultText(refusedToo))).toMatchObject({ error: { code: -32603 } });
    expect(JSON.parse(await textOf(provider, b, 'ask', ask))).toEqual({ result: { action: 'accept' } });
    expect(JSON.parse(resultText(await asking()))).toEqual({ result: 'heard' });
    expect([a.asked, b.asked]).toEqual([[], [ask]]);
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
