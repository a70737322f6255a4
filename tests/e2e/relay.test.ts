import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { featuresServer, startBridge, textOf } from '../support/road.js';
import type { StdioPeer } from '../support/stdio-peer.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
let bridge: StdioPeer;
beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({
    servers: { one: featuresServer({ TRACE_FILE: trace.file }), two: featuresServer() },
  });
});
afterAll(() => running.stop());
beforeEach(async () => {
  bridge = startBridge(running);
  await bridge.initialize({ roots: { listChanged: true } });
});
afterEach(() => bridge.close());

const resultOf = async (method: string, params?: object) => (await bridge.request(method, params)).result;

describe('beside tools, through bridge and orchestrator', () => {
  test('prompts of all servers are listed under qualified names and got from their own server', async () => {
    const { prompts } = await resultOf('prompts/list');
    expect(prompts.map((prompt: { name: string }) => prompt.name)).toEqual(['one__greet', 'two__greet']);
    const { messages } = await resultOf('prompts/get', { name: 'two__greet', arguments: { who: 'Ada' } });
    expect(messages[0].content.text).toBe('Greet Ada');
    const { error } = await bridge.request('prompts/get', { name: 'three__greet' });
    expect(error).toMatchObject({ code: -32602, message: 'There is no prompt "three__greet".' });
  });

  test('resources are listed whole and read, listed ones and those made from a template', async () => {
    const { resources } = await resultOf('resources/list');
    expect(resources[0]).toEqual({ uri: 'test://a', name: 'a', 'x-own': true });
    const { resourceTemplates } = await resultOf('resources/templates/list');
    expect(resourceTemplates[0].uriTemplate).toBe('test://{name}');
    for (const uri of ['test://a', 'test://made']) {
      const { contents } = await resultOf('resources/read', { uri });
      expect(contents).toEqual([{ uri, text: `content of ${uri}`, 'x-own': 1 }]);
    }
  });

  test('completions come from the server of the prompt', async () => {
    const ref = { type: 'ref/prompt', name: 'one__greet' };
    const { completion } = await resultOf('completion/complete', {
      ref,
      argument: { name: 'who', value: 'A' },
    });
    expect(completion.values).toEqual(['A-done']);
  });

  test('an updated resource is told to the session that subscribed to it', async () => {
    await resultOf('resources/subscribe', { uri: 'test://a' });
    await bridge.callTool('one__touch', { uri: 'test://a' });
    const update = await bridge.waitFor((frame) => frame.method === 'notifications/resources/updated');
    expect(update.params).toEqual({ uri: 'test://a' });
  });

  test('the log level reaches a server that the session uses later, and starts none', async () => {
    const before = trace.pids.length;
    expect(await resultOf('logging/setLevel', { level: 'debug' })).toEqual({});
    expect(trace.pids).toHaveLength(before);
    await bridge.callTool('one__echo', { text: 'hello' });
    await trace.saw('level debug');
    expect(textOf(await bridge.callTool('one__level'))).toBe('debug');
  });

  test('log lines reach the client, in a call and after it', async () => {
    await bridge.callTool('one__log', { text: 'in the call' });
    await bridge.callTool('one__log_after', { text: 'after the call' });
    for (const data of ['in the call', 'after the call']) {
      await bridge.waitFor((frame) => frame.method === 'notifications/message' && frame.params.data === data);
    }
  });

  test("a change of the client's roots reaches the servers that it uses", async () => {
    await bridge.callTool('one__echo', { text: 'hello' });
    const heard = trace.count('heard notifications/roots/list_changed');
    bridge.notify('notifications/roots/list_changed');
    await trace.saw('heard notifications/roots/list_changed', heard + 1);
  });

  test("a server's JSON-RPC error arrives with its code, message and data", async () => {
    const { error } = await bridge.request('resources/templates/list', { cursor: 'x' });
    expect(error).toBeUndefined();
    const ask = bridge.callTool('one__ask', { method: 'roots/list' });
    const question = await bridge.waitFor((frame) => frame.method === 'roots/list');
    bridge.send({ id: question.id, error: { code: -32099, message: 'not today', data: { why: 'busy' } } });
    expect(JSON.parse(textOf(await ask) ?? '')).toEqual({
      error: { code: -32099, message: 'not today', data: { why: 'busy' } },
    });
  });
});
