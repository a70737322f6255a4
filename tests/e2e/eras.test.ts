import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { modernHeaders, modernMeta, postMcp } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { featuresServer, startBridge, textOf } from '../support/road.js';
import { Trace } from '../support/trace.js';
import { Upstreams } from '../support/upstreams.js';

let running: RunningOrchestrator;
let trace: Trace;
const upstreams = new Upstreams();
beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({
    servers: {
      legacy: featuresServer({ TRACE_FILE: trace.file }),
      modern: featuresServer({ ERA: 'modern' }),
      remote: { url: `${(await upstreams.httpServer({ TRACE_FILE: trace.file })).url}/mcp` },
    },
  });
});
afterAll(async () => {
  await running.stop();
  await upstreams.close();
});

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
async function call(
  name: string,
  args: object,
  more: object = {},
  session = 'modern-client',
  whose: Record<string, string> = {},
) {
  const params = { name, arguments: args, _meta: meta, ...more };
  const headers = { ...modernHeaders('tools/call', name), 'x-session-id': session, ...whose };
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

  test('that asks the same anew has begun again: what waited for its answer is cancelled at the server', async () => {
    const args = { method: 'elicitation/create', params: { message: 'Begun again?' } };
    const isCancelled = () => trace.lines.some((line) => /^cancelled .*began again/.test(line));
    await eventually('the first one is cancelled', async () => {
      await call('legacy__ask', args, {}, 'begins-again');
      return isCancelled();
    });
  });

  test('whose session ends leaves no question open', async () => {
    await call('legacy__ask', question, {}, 'ends');
    await fetch(`${running.url}/api/sessions/ends`, { method: 'DELETE', headers: running.headers() });
    const isCancelled = () => trace.lines.some((line) => /^cancelled .*session (was )?ended/.test(line));
    await eventually('it is cancelled', isCancelled);
  });

  test('is asked again for an answer that it left out', async () => {
    const { result } = await call('legacy__ask', question);
    const { requestState } = result as { requestState: string };
    const again = await call('legacy__ask', question, { inputResponses: {}, requestState });
    expect(again.result).toMatchObject({ resultType: 'input_required', inputRequests: { q1: question } });
  });

  describe('with calls at once, of which nothing on stdio says which one asks,', () => {
    const named = (message: string) => ({ ...question, params: { ...question.params, message } });
    /** A call that asks when the next one has begun; resolves then with its answer under way. */
    const askLater = async (asked: object, session: string, server = 'legacy') => {
      await call(`${server}__echo`, {}, {}, session);
      const begun = trace.count('started ask');
      const asking = call(`${server}__ask`, { ...asked, later: true }, {}, session);
      await trace.saw('started ask', begun + 1);
      return { asking };
    };
    const questionsIn = ({ result }: Awaited<ReturnType<typeof call>>) =>
      Object.values(result?.inputRequests as object);

    test('gets two questions as the answers to the two calls, in their order', async () => {
      const { asking } = await askLater(named('First?'), 'two-questions');
      const second = await call('legacy__ask', named('Second?'), {}, 'two-questions');
      expect([questionsIn(await asking), questionsIn(second)]).toEqual([
        [named('First?')],
        [named('Second?')],
      ]);
    });

    test('gets a question as the answer to the call that is left when the others have ended', async () => {
      const { asking } = await askLater(question, 'question-and-work');
      const working = await call('legacy__slow', { ms: 100 }, {}, 'question-and-work');
      expect(textOf(working as Parameters<typeof textOf>[0])).toBe('slept');
      expect(questionsIn(await asking)).toEqual([question]);
    });

    test('gets a question all the same while another one goes on and on', async () => {
      const { asking } = await askLater(question, 'question-and-hang');
      const hanging = call('legacy__hang', {}, {}, 'question-and-hang');
      expect(questionsIn(await Promise.race([asking, hanging]))).toEqual([question]);
    });

    test('gets it as the answer to the call that asks where the server is reached over HTTP, which does say so', async () => {
      const { asking } = await askLater(question, 'question-over-http', 'remote');
      const hanging = call('remote__hang', {}, {}, 'question-over-http');
      expect(questionsIn(await Promise.race([asking, hanging]))).toEqual([question]);
      expect(questionsIn(await asking)).toEqual([question]);
    });
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

  test('must say in a header what the schema wants there, as the arguments have it', async () => {
    const params = { name: 'modern__header', arguments: { region: 'Zürich' }, _meta: modernMeta };
    const answered = async (named: Record<string, string>) => {
      const headers = { ...modernHeaders('tools/call', params.name), ...named };
      const { status, messages } = await postMcp(running, { id: 1, method: 'tools/call', params }, headers);
      return [status, (messages.at(-1) as { error?: { code: number } }).error?.code];
    };
    const encoded = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
    expect(await answered({ 'mcp-param-region': encoded('Zürich'), 'mcp-param-other': 'x' })).toEqual([
      200,
      undefined,
    ]);
    for (const wrong of [{}, { 'mcp-param-region': encoded('Bern') }, { 'mcp-param-region': 'Zuerich' }])
      expect(await answered(wrong as Record<string, string>)).toEqual([400, -32020]);
  });

  test('cannot go on with the state of another principal, in that one’s session or in its own', async () => {
    const made = await fetch(`${running.url}/api/keys`, {
      method: 'POST',
      headers: { ...running.headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'somebody else' }),
    });
    const { key } = (await made.json()) as { key: string };
    const { result } = await call('legacy__ask', question, {}, 'of-the-owner');
    const more = { inputResponses: { q1: answer }, requestState: result?.requestState };
    const refused: unknown[] = [];
    for (const session of ['of-the-owner', 'of-somebody-else']) {
      const { error } = await call('legacy__ask', question, more, session, {
        authorization: `Bearer ${key}`,
      });
      refused.push(error?.message);
    }
    expect(refused).toEqual([
      expect.stringContaining('session'),
      expect.stringContaining('The requestState is not of this request'),
    ]);
    const goesOn = await call('legacy__ask', question, more, 'of-the-owner');
    expect(goesOn.result).toMatchObject({ resultType: 'complete' });
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
