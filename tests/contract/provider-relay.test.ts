import { afterEach, describe, expect, test } from '@jest/globals';
import type { McpProvider } from '@mcpbridge/orchestrator/providers/mcp/mcp-provider.js';
import { RpcFailure, type RpcNotification } from '@mcpbridge/shared/json-rpc.js';
import { callTool, TestCaller, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
const { signal } = new AbortController();
afterEach(() => upstreams.close());

for (const env of [{}, { ERA: 'modern' }] as Record<string, string>[]) {
  describe(`everything beside tools, of a ${env.ERA ?? 'legacy'} server`, () => {
    test('resources, templates, prompts and completion are relayed whole', async () => {
      const provider = upstreams.features(env);
      const ask = (method: string, params?: object) =>
        provider.request(new TestCaller('a'), method, params && { ...params }, { signal });
      expect(await ask('resources/list')).toMatchObject({ resources: [{ uri: 'test://a', 'x-own': true }] });
      expect(await ask('resources/templates/list')).toMatchObject({
        resourceTemplates: [{ uriTemplate: 'test://{name}' }],
      });
      expect(await ask('resources/read', { uri: 'test://b' })).toMatchObject({
        contents: [{ uri: 'test://b', text: 'content of test://b', 'x-own': 1 }],
      });
      expect(await ask('prompts/list')).toMatchObject({ prompts: [{ name: 'greet' }] });
      expect(await ask('prompts/get', { name: 'greet', arguments: { who: 'Ann' } })).toMatchObject({
        messages: [{ content: { text: 'Greet Ann' } }],
      });
      const argument = { name: 'who', value: 'A' };
      expect(
        await ask('completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument }),
      ).toMatchObject({
        completion: { values: ['A-done'] },
      });
      expect(await ask('ping')).toEqual({});
    });

    test('a subscribed resource is reported to its session alone', async () => {
      const provider = upstreams.features(env);
      const [a, b] = [new TestCaller('a'), new TestCaller('b')];
      await textOf(provider, b, 'echo');
      const uri = 'test://a';
      await provider.request(a, 'resources/subscribe', { uri }, { signal });
      await textOf(provider, a, 'touch', { uri });
      expect(a.told).toEqual([
        { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } },
      ]);
      await provider.request(a, 'resources/unsubscribe', { uri }, { signal });
      await textOf(provider, a, 'touch', { uri });
      expect(a.told).toHaveLength(1);
      expect(b.told).toEqual([]);
    });

    test('the log level of a session reaches its server', async () => {
      const provider = upstreams.features(env);
      const a = new TestCaller('a');
      await provider.request(a, 'logging/setLevel', { level: 'warning' }, { signal });
      expect(await textOf(provider, a, 'level')).toBe('warning');
    });

    test('an error comes back as the server sent it', async () => {
      const provider = upstreams.features(env);
      const unknown = provider.request(new TestCaller('a'), 'no/such/method', {}, { signal });
      await expect(unknown).rejects.toEqual(new RpcFailure(-32601, 'no method no/such/method'));
      const failure = await textOf(provider, new TestCaller('a'), 'nope').catch((error) => error);
      expect(failure).toBeInstanceOf(RpcFailure);
      expect(failure.toError()).toEqual({
        code: -32602,
        message: 'no tool nope',
        data: { name: 'nope', hint: 'look again' },
      });
    });
  });
}

describe('notifications of the client', () => {
  test("reach the session's own open connection", async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    const a = new TestCaller('a');
    provider.notify(a, 'notifications/roots/list_changed', undefined);
    await textOf(provider, a, 'echo');
    expect(trace.matching(/roots/)).toEqual([]);
    provider.notify(a, 'notifications/roots/list_changed', undefined);
    await trace.line(/^heard notifications\/roots\/list_changed/);
  });
});

describe('a server of the modern era alone', () => {
  test('is found out in the same process, and not asked by initialize again', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ ERA: 'modern', TRACE_FILE: trace.file });
    await provider.refresh();
    expect(provider.about).toMatchObject({
      era: 'modern',
      version: '2026-07-28',
      instructions: 'Use with care.',
    });
    expect(trace.pids()).toHaveLength(1);
    expect(await textOf(provider, new TestCaller('a'), 'echo', { text: 'x' })).toBe('x');
    expect(trace.matching(/^refused initialize/)).toHaveLength(1);
  });

  test('hears of every session capability and nothing of the protocol of its client', async () => {
    const provider = upstreams.features({ ERA: 'modern' });
    const caller = new TestCaller('a', { sampling: {} });
    expect(JSON.parse(await textOf(provider, caller, 'capabilities'))).toEqual({ sampling: {} });
    const mirrored = JSON.parse(await textOf(provider, caller, 'mirror', {}));
    expect(mirrored._meta).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'mcpbridge-orchestrator' },
    });
  });

  test('gets the answers to what it asks, with its state untouched', async () => {
    const provider = upstreams.features({ ERA: 'modern' });
    const a = new TestCaller('a');
    const answer = await textOf(provider, a, 'ask', { method: 'roots/list', params: {} });
    expect(JSON.parse(answer)).toEqual({ result: { action: 'accept' }, requestState: 'state-1' });
    expect(a.asked).toEqual([{ method: 'roots/list', params: {} }]);
  });

  test('is listened to for changed tools', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ ERA: 'modern', TRACE_FILE: trace.file }, { isolation: 'shared' });
    await provider.refresh();
    const changed = new Promise((resolve) => provider.onListChanged(resolve));
    await textOf(provider, new TestCaller('a'), 'add_tool', { name: 'newcomer' });
    await changed;
    expect(provider.listed?.tools.map((tool) => tool.name)).toContain('newcomer');
    expect(trace.matching(/^listening/)).toEqual([
      'listening {"toolsListChanged":true,"resourcesListChanged":true}',
    ]);
  });

  test('that listens does not keep an unused connection open', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ ERA: 'modern', TRACE_FILE: trace.file }, { idleTimeoutMs: 50 });
    await textOf(provider, new TestCaller('a'), 'echo');
    await trace.line(/^stdin ended/);
  });
});

describe('the log level', () => {
  const levelOf = (provider: McpProvider, caller: TestCaller, level: string) =>
    provider.request(caller, 'logging/setLevel', { level }, { signal });
  const heardBy = (heard: unknown[]) => ({
    notification: ({ params }: RpcNotification) => heard.push(params?.data),
  });

  test('of each session is its own also where they share a legacy server, which hears the one that wants most', async () => {
    const { url } = await upstreams.httpServer();
    const provider = upstreams.remote(`${url}/mcp`, {}, { isolation: 'shared' });
    const [a, b] = [new TestCaller('a'), new TestCaller('b')];
    const heard: Record<string, unknown[]> = { a: [], b: [] };
    await levelOf(provider, a, 'debug');
    await levelOf(provider, b, 'error');
    expect(await textOf(provider, b, 'level')).toBe('debug');
    for (const caller of [a, b]) {
      const listener = heardBy(heard[caller.sessionId] ?? []);
      await callTool(provider, caller, 'log', { args: { text: caller.sessionId }, listener });
    }
    expect(heard).toEqual({ a: ['a'], b: [] });
    await provider.endSession('b');
    await callTool(provider, b, 'log', { args: { text: 'anew' }, listener: heardBy(heard.b ?? []) });
    expect(heard.b).toEqual(['anew']);
  });

  test('and the capabilities of each session go with its requests where they share a modern server', async () => {
    const provider = upstreams.features({ ERA: 'modern' }, { isolation: 'shared' });
    const [a, b] = [new TestCaller('a', { roots: {} }), new TestCaller('b', { sampling: {} })];
    await provider.refresh();
    await levelOf(provider, a, 'debug');
    expect(await textOf(provider, a, 'level')).toBe('debug');
    expect(await textOf(provider, b, 'level')).toBe('undefined');
    for (const caller of [a, b])
      expect(JSON.parse(await textOf(provider, caller, 'capabilities'))).toEqual(caller.capabilities);
  });

  test('that a modern client says with a request is told to a legacy server, and holds for that request', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    const a = new TestCaller('a');
    const heard: unknown[] = [];
    const log = (logLevel: string) => {
      const terms = { capabilities: {}, logLevel };
      const listener = { ...heardBy(heard), terms };
      return callTool(provider, a, 'log', { args: { text: `for ${logLevel}` }, listener });
    };
    for (const level of ['error', 'info', 'debug', 'warning', 'info']) await log(level);
    expect(heard).toEqual(['for info', 'for debug', 'for info']);
    expect(trace.matching(/^level/)).toEqual(['level error', 'level info', 'level debug']);
  });
});
