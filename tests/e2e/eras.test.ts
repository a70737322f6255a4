import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { modernHeaders, modernMeta, postMcp } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { featuresServer, startBridge, textOf } from '../support/road.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({
    servers: {
      legacy: featuresServer({ TRACE_FILE: trace.file }),
      modern: featuresServer({ ERA: 'modern' }),
    },
  });
});
afterAll(() => running.stop());

const meta = {
  ...modernMeta,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};
const question = {
  method: 'elicitation/create',
  params: { message: 'Which?', requestedSchema: { type: 'object' } },
};
const answer = { action: 'accept', content: { which: 'this' } };

/** One exchange of a modern client; `more` holds what it comes back with. */
async function call(name: string, args: object, more: object = {}, session = 'modern-client') {
  const params = { name, arguments: args, _meta: meta, ...more };
  const headers = { ...modernHeaders('tools/call', name), 'x-session-id': session };
  const { messages } = await postMcp(running, { id: 1, method: 'tools/call', params }, headers);
  return messages.at(-1) as { result?: Record<string, unknown>; error?: { code: number; message: string } };
}

describe('a modern client', () => {
  test.each(['legacy', 'modern'])('answers the question of a %s server in a second round', async (era) => {
    const first = await call(`${era}__ask`, question);
    expect(first.result).toMatchObject({ resultType: 'input_required' });
    const [key] = Object.keys(first.result?.inputRequests as object);
    expect(first.result?.inputRequests).toEqual({ [String(key)]: question });
    const { requestState } = first.result as { requestState: string };
    const second = await call(`${era}__ask`, question, {
      inputResponses: { [String(key)]: answer },
      requestState,
    });
    expect(second.result).toMatchObject({ resultType: 'complete' });
    expect(JSON.parse(textOf(second as Parameters<typeof textOf>[0]) ?? '')).toMatchObject({
      result: answer,
    });
  });

  test('is asked again for an answer that it left out', async () => {
    const { result } = await call('legacy__ask', question);
    const { requestState } = result as { requestState: string };
    const again = await call('legacy__ask', question, { inputResponses: {}, requestState });
    expect(again.result).toMatchObject({ resultType: 'input_required', inputRequests: { q1: question } });
  });

  test('cannot go on with the state of another request, session or day', async () => {
    const { result } = await call('legacy__ask', question);
    const { requestState } = result as { requestState: string };
    const more = { inputResponses: { q1: answer }, requestState };
    const other = { ...question, params: { ...question.params, message: 'Another?' } };
    for (const refused of [
      await call('legacy__ask', other, more),
      await call('legacy__ask', question, more, 'another-session'),
      await call('legacy__ask', question, { ...more, requestState: `${requestState}x` }),
    ]) {
      expect(refused.error).toMatchObject({ code: -32602, message: expect.stringContaining('requestState') });
    }
    expect((await call('legacy__ask', question, more)).result).toMatchObject({ resultType: 'complete' });
  });

  test('carries its own capabilities and log level to a server of its era', async () => {
    const capabilities = await call('modern__capabilities', {});
    expect(JSON.parse(textOf(capabilities as Parameters<typeof textOf>[0]) ?? '')).toEqual({
      elicitation: { form: {} },
    });
    const level = await call(
      'modern__level',
      {},
      { _meta: { ...meta, 'io.modelcontextprotocol/logLevel': 'debug' } },
    );
    expect(textOf(level as Parameters<typeof textOf>[0])).toBe('debug');
  });
});

test('a legacy client answers the question of a modern server, and neither knows of the other era', async () => {
  const bridge = startBridge(running);
  await bridge.initialize({ elicitation: {} });
  const asking = bridge.callTool('modern__ask', question);
  const asked = await bridge.waitFor((frame) => frame.method === 'elicitation/create');
  expect(asked.params).toEqual(question.params);
  bridge.send({ id: asked.id, result: answer });
  expect(JSON.parse(textOf(await asking) ?? '')).toMatchObject({ result: answer });
  bridge.close();
});

test('a legacy client gets structured content that is no object in a member of one, which it does not refuse', async () => {
  const bridge = startBridge(running);
  await bridge.initialize();
  const { result } = await bridge.callTool('modern__odd');
  expect(result.structuredContent).toEqual({ result: ['not', 'an', 'object'] });
  expect(result['x-result']).toEqual({ kept: true });
  const params = { name: 'modern__odd', arguments: {}, _meta: meta };
  const { messages } = await postMcp(
    running,
    { id: 1, method: 'tools/call', params },
    modernHeaders('tools/call', 'modern__odd'),
  );
  expect(messages[0]?.result).toMatchObject({ structuredContent: ['not', 'an', 'object'] });
  bridge.close();
});
