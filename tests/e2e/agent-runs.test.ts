import { describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { type Json, ofType, useAgentHouse } from '../support/agent.js';
import { brainOf, type ModelAnswer, type ModelQuestion } from '../support/model-api.js';
import { eventually } from '../support/processes.js';

const { house, model } = useAgentHouse((server) => brainOf('anthropic', server));

const use = (tool: string, args: object = {}) => ({ tool: `ledger__${tool}`, args });

/** Answers turn by turn: as many results as there are tell which one is due. */
const turns =
  (...all: ModelAnswer[]) =>
  ({ results }: ModelQuestion): ModelAnswer =>
    all[results.length] ?? { text: 'The end.' };

const results = (steps: Json[]) => ofType(steps, 'tool_result').map(({ tool, text }) => `${tool}: ${text}`);
const answerOf = ({ end }: { end: Json }) => end.answer;

describe('the loop', () => {
  verifies('agent.three-tools', async () => {
    model.answer = turns(
      { thinking: 'First things first.', text: 'I begin.', calls: [use('step_1')] },
      { calls: [use('step_2')] },
      { calls: [{ tool: 'bare__echo', args: { text: 'grüße 👋' } }] },
      { text: 'All three are done 👍.' },
    );
    const { steps, end } = await house.ask('Do this.');
    expect(results(steps)).toEqual([
      'ledger__step_1: step_1 is done',
      'ledger__step_2: step_2 is done',
      'bare__echo: grüße 👋',
    ]);
    expect(
      ofType(steps, 'thinking')
        .map(({ text }) => text)
        .join(''),
    ).toBe('First things first.');
    expect(
      ofType(steps, 'text')
        .map(({ text }) => text)
        .join(''),
    ).toBe('I begin.All three are done 👍.');
    expect(steps.at(-1)).toMatchObject({ type: 'final_answer', text: 'All three are done 👍.' });
    expect(end).toMatchObject({ state: 'done', answer: 'All three are done 👍.', strategy: 'react' });
    expect(end.usage).toEqual({ inputTokens: 80, cachedTokens: 32, outputTokens: 60 });
    // What was thought goes back as it came, signature and all, and what stays is marked to be cached.
    const { body } = model.questions[1] ?? { body: {} };
    expect(body.messages[1].content[0]).toMatchObject({ type: 'thinking', signature: 'c2lnbmVk' });
    expect(body.system[0].cache_control).toEqual({ type: 'ephemeral' });
    expect(body.tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
  });

  verifies('agent.at-once', async () => {
    model.answer = turns({ calls: [use('wait', { ms: 200 }), use('fail'), use('wait', { ms: 201 })] });
    const { steps } = await house.ask('Compare both.');
    const began = ofType(steps, 'tool_result')
      .filter(({ tool }) => tool === 'ledger__wait')
      .map(({ text }) => Number(/\d+/.exec(text)?.[0]));
    // The second began its answer before the first had gone out: they waited at the same time.
    expect(Math.abs((began[0] ?? 0) - (began[1] ?? 0))).toBeLessThan(200);
    const sent = model.questions.at(-1)?.results ?? [];
    expect(sent).toHaveLength(3);
    expect(sent[1]).toBe('the disk is full');
  });

  test('a tool that is not there, and arguments that do not fit, are told to the model, which does better', async () => {
    model.answer = turns(
      { calls: [{ tool: 'ledger__step_11', args: {} }] },
      { calls: [use('step_3', { ms: 'soon' })] },
      { calls: [use('step_3')] },
      { text: 'Done.' },
    );
    const { steps, end } = await house.ask('Do this.');
    const [unknown, unfit, good] = ofType(steps, 'tool_result');
    expect(unknown).toMatchObject({ isError: true, code: 'UNKNOWN_TOOL' });
    expect(unknown.text).toContain('Nearest: "ledger__step_10"');
    expect(unfit).toMatchObject({ isError: true, code: 'INVALID_ARGUMENTS' });
    expect(unfit.text).toContain('/ms: must be integer');
    expect(good).toMatchObject({ isError: false });
    expect(end.state).toBe('done');
  });

  verifies('agent.finds-nothing', async () => {
    model.answer = ({ results: [found] }) => {
      if (found === undefined) return { calls: [use('nothing')] };
      return { text: found.includes('answered nothing') ? 'Nothing was found.' : 'It is 42.' };
    };
    expect(answerOf(await house.ask('What is it?', { strategy: 'auto' }))).toBe('Nothing was found.');
    expect(model.questions[0]?.all).toContain('When the tools find nothing, say that nothing was found.');
  });

  verifies('agent.step-limit', async () => {
    model.answer = ({ body, results: all }) =>
      body.tool_choice.type === 'none'
        ? { text: `${all.length} steps were done, the rest is missing.` }
        : { calls: [use(`step_${all.length + 1}`)] };
    const { end } = await house.ask('Do this.', { limits: { iterations: 3 } });
    expect(end).toMatchObject({
      state: 'done',
      answer: '3 steps were done, the rest is missing.',
      stopped: 'the limit of 3 steps is reached',
    });
  });

  test('limits of tokens and of time end a run as well', async () => {
    model.answer = ({ body }) =>
      body.tool_choice.type === 'none' ? { text: 'So far.' } : { calls: [use('wait')] };
    const tokens = await house.ask('Do this.', { limits: { tokens: 50 } });
    expect(tokens.end).toMatchObject({ answer: 'So far.', stopped: 'the limit of 50 tokens is reached' });
    const time = await house.ask('Do this.', { limits: { time: '1ms' } });
    expect(time.end.stopped).toBe('the time limit of 0.001 s is reached');
  });

  test('a call and an answer that take longer than the run may are ended, and the model says what is known', async () => {
    model.answer = ({ body }) =>
      body.tool_choice.type === 'none'
        ? { text: 'It took too long.' }
        : { calls: [use('step_5', { ms: 60_000 })] };
    const call = await house.ask('Do this.', { limits: { time: '1s' } });
    expect(call.end).toMatchObject({
      answer: 'It took too long.',
      stopped: 'the time limit of 1 s is reached',
    });
    expect(results(call.steps)).toEqual([
      'ledger__step_5: The time of the run was over before there was a result.',
    ]);
    let goOn = () => {};
    const never = new Promise<ModelAnswer>((resolve) => (goOn = () => resolve({ text: 'Too late.' })));
    model.answer = ({ body }) => (body.tool_choice.type === 'none' ? { text: 'Nothing yet.' } : never);
    const thought = await house.ask('Do this.', { limits: { time: '1s' } });
    expect(thought.end).toMatchObject({
      answer: 'Nothing yet.',
      stopped: 'the time limit of 1 s is reached',
    });
    goOn();
  });

  test('a run is cancelled while its model thinks', async () => {
    let goOn = () => {};
    const never = new Promise<ModelAnswer>((resolve) => (goOn = () => resolve({ text: 'Too late.' })));
    model.answer = () => never;
    const { run_id: id } = await house.begin('Do this.');
    await eventually('the model is asked', () => model.questions.length > 0);
    expect((await house.send('POST', `/api/agent/runs/${id}/cancel`)).state).toBe('cancelled');
    goOn();
  });

  verifies('agent.cost-limit', async () => {
    // Of Claude Sonnet 4.5; an answer of this model uses 12 tokens, 8 from the cache, and writes 15.
    const price = 'price: { input: 3, output: 15, cached: 0.3, cacheWritten: 3.75 }';
    const each = (12 * 3 + 8 * 0.3 + 15 * 15) / 1_000_000;
    await house.writeMission('thrifty', `---\n${price}\nlimits: { cost: 0.0006 }\n---\nBe brief.`);
    model.answer = ({ body, results: all }) =>
      body.tool_choice?.type === 'none' ? { text: 'So far.' } : { calls: [use(`step_${all.length + 1}`)] };
    const { end, steps } = await house.ask('Do this.', { mission: 'thrifty' });
    expect(end).toMatchObject({
      state: 'done',
      answer: 'So far.',
      stopped: 'the limit of $0.0006 is reached ($0.00079 were spent)',
    });
    expect(results(steps)).toHaveLength(3);
    expect(end.usage.cost).toBeCloseTo(4 * each, 9);
    // The steps of a plan spend from one purse.
    model.answer = ({ all, body, tools }) => {
      if (tools.length > 0)
        return body.tool_choice.type === 'none' ? { text: 'Not done.' } : { calls: [use('step_1')] };
      const plan = { steps: [1, 2, 3].map((id) => ({ id, task: 'do it', after: id > 1 ? [id - 1] : [] })) };
      return { text: all.includes('Write a plan') ? JSON.stringify(plan) : 'Little was done.' };
    };
    const planned = await house.ask('Do this.', { mission: 'thrifty', strategy: 'plan' });
    expect(planned.end).toMatchObject({
      answer: 'Little was done.',
      stopped: expect.stringContaining('the limit of $0.0006 is reached'),
    });
    expect(planned.end.usage.cost).toBeLessThan(7 * each);
    const unpriced = await house.begin('Do this.', { limits: { cost: 1 } });
    expect(unpriced.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('needs the prices of "anthropic:fake": set AGENT_PRICES'),
    });
  });

  verifies('agent.images', async () => {
    const show = (args: object) => use('picture', args);
    model.answer = turns(
      // More than the text of a result may be.
      { calls: [show({ bytes: 400_000 })] },
      { calls: [show({ bytes: 16, type: 'image/svg+xml' })] },
      { calls: [show({ bytes: 4_000_004 })] },
      { text: 'I saw one.' },
    );
    const { steps, end } = await house.ask('Look.');
    const [seen] = model.questions[1]?.images ?? [];
    expect([seen?.length, seen?.slice(0, 25)]).toEqual([400_022, 'data:image/png;base64,AAA']);
    expect(model.questions.at(-1)?.images).toHaveLength(1);
    expect(results(steps)).toEqual([
      'ledger__picture: a picture',
      'ledger__picture: a picture\n[An image (image/svg+xml, 1 kB) was left out: models take no images of this type.]',
      'ledger__picture: a picture\n[An image (image/png, 3001 kB) was left out: it is too large for a model.]',
    ]);
    // Who looks on is told what it is, not given it once more.
    expect(ofType(steps, 'tool_result')[0].pictures).toEqual(['image/png, 300 kB']);
    const history = await house.send('GET', `/api/agent/conversations/${end.conversation_id}`);
    expect(JSON.stringify(history).length).toBeLessThan(20_000);
  });

  test('who goes round in circles is told so, then stopped with what is known', async () => {
    model.answer = ({ body }) =>
      body.tool_choice.type === 'none' ? { text: 'It always fails.' } : { calls: [use('fail')] };
    const before = house.ledger.length;
    const { steps, end } = await house.ask('Do this.');
    expect(end.stopped).toContain('again and again');
    expect(ofType(steps, 'tool_result').map(({ code }) => code)).toEqual([
      ...['TOOL_FAILED', 'TOOL_FAILED', 'TOOL_FAILED'],
      ...['CIRCLE', 'CIRCLE'],
    ]);
    expect(house.ledger.length - before).toBe(3);
  });

  test('a model that says nothing is asked once more', async () => {
    model.answer = ({ all }) => ({ text: all.includes('You answered nothing') ? 'Here it is.' : '' });
    expect(answerOf(await house.ask('Do this.'))).toBe('Here it is.');
  });

  test('a run is cancelled in the middle of a call, and its call with it', async () => {
    model.answer = turns({ calls: [use('step_4', { ms: 60_000 })] });
    const before = house.ledger.length;
    const { run_id: id } = await house.begin('Do this.');
    await eventually('the call is at the server', () => house.ledger.length > before);
    const cancelled = await house.send('POST', `/api/agent/runs/${id}/cancel`);
    expect(cancelled).toMatchObject({ state: 'cancelled', error: { code: 'CALL_CANCELLED' } });
    await eventually('the call is recorded as cancelled', async () => {
      const { calls } = await house.send('GET', '/api/calls?q=tool:step_4&limit=1');
      return calls[0]?.status === 'cancelled';
    });
  });

  test('what no longer fits into the window is shortened, calls and results together', async () => {
    await house.writeMission('small', '---\nwindow: 4000\n---\nBe brief.');
    model.answer = ({ results: all }) =>
      all.length < 6
        ? { calls: [{ tool: 'bare__big', args: { bytes: 12_000 + all.length } }] }
        : { text: 'Done.' };
    const { end } = await house.ask('Do this.', { mission: 'small' });
    expect(end.state).toBe('done');
    const { body } = model.questions.at(-1) ?? { body: {} };
    const blocks = body.messages.flatMap(({ content }: Json) => content);
    const calls = blocks.filter(({ type }: Json) => type === 'tool_use').map(({ id }: Json) => id);
    const told = blocks
      .filter(({ type }: Json) => type === 'tool_result')
      .map(({ tool_use_id: id }: Json) => id);
    expect(told).toEqual(calls);
    expect(/left out here to save space/.test(JSON.stringify(blocks))).toBe(true);
    // Large results are cut by the orchestrator, which keeps the whole.
    expect(JSON.stringify(model.questions[1]?.results)).toContain('read_large_output');
  });

  test('of a catalog that is too large for its window the model sees what it finds', async () => {
    await house.writeMission('tiny', '---\nwindow: 2000\n---\nBe brief.');
    model.answer = ({ results: all, tools }) => {
      if (all.length === 0)
        return { calls: [{ tool: 'find_tools', args: { words: 'says the text again' } }] };
      return all.length === 1
        ? { calls: [{ tool: 'bare__echo', args: { text: tools.join() } }] }
        : { text: 'Done.' };
    };
    const { steps } = await house.ask('Do this.', { mission: 'tiny' });
    expect(model.questions[0]?.tools).toEqual(['find_tools']);
    expect(ofType(steps, 'tool_result')[0].text).toContain('- bare__echo: Says the text again');
    expect(model.questions[1]?.tools).toEqual(expect.arrayContaining(['find_tools', 'bare__echo']));
  });
});

describe('strategies', () => {
  verifies('agent.plan', async () => {
    const step = (id: string, task: string, after: string[] = []) => ({ id, task, after });
    const first = [
      step('a', 'do step 5'),
      step('b', 'do step 6'),
      step('c', 'write to the disk', ['a', 'b']),
      step('d', 'do step 7', ['c']),
    ];
    const second = [step('c', 'write elsewhere: step 8'), step('d', 'do step 7', ['c'])];
    model.answer = ({ all, results: done, tools }) => {
      if (tools.length === 0 && all.includes('Write a plan'))
        return {
          text: `\`\`\`json\n${JSON.stringify({ steps: all.includes('Plan anew') ? second : first })}\n\`\`\``,
        };
      if (tools.length === 0) return { text: 'Steps 5 to 8 are done, the disk was full at first.' };
      const number = /Your step: .*?step (\d+)/.exec(all)?.[1];
      if (done.length > 0 && done.at(-1)?.includes('Noted')) return { text: 'The disk is full.' };
      if (number)
        return done.length === 0 ? { calls: [use(`step_${number}`)] } : { text: `step ${number} done` };
      return done.length === 0
        ? { calls: [use('fail')] }
        : { calls: [{ tool: 'report_failure', args: { reason: 'the disk is full' } }] };
    };
    const before = house.ledger.length;
    const { steps, end } = await house.ask('First do 5, then 6, then write, and finally 7.');
    expect(end).toMatchObject({
      state: 'done',
      strategy: 'plan',
      answer: 'Steps 5 to 8 are done, the disk was full at first.',
    });
    const [plan, anew] = ofType(steps, 'plan');
    expect(plan.steps.map(({ task }: Json) => task)).toEqual(first.map(({ task }) => task));
    expect(anew.because).toContain('the disk is full');
    const outcomes = ofType(steps, 'step').map(({ step: id, ok }) => [id, ok]);
    expect(outcomes.slice(0, 2).sort()).toEqual([
      ['1.a', true],
      ['1.b', true],
    ]);
    expect(outcomes.slice(2)).toEqual([
      ['1.c', false],
      ['2.c', true],
      ['2.d', true],
    ]);
    const done = house.ledger.slice(before);
    expect(done.slice(0, 2).sort()).toEqual(['step_5', 'step_6']);
    expect(done.slice(2)).toEqual(['fail', 'step_8', 'step_7']);
    // The step that came after knows what was found before it.
    expect(model.questions.some(({ all }) => /Step 2\.c gave: step 8 done/.test(all))).toBe(true);
  });

  test('a sub-agent works in a session under that of its agent, with no more tools', async () => {
    await house.writeMission(
      'boss',
      '---\nsubAgents: true\nallowedPrefixes: [ledger__, bare__]\n---\nDelegate.',
    );
    model.answer = ({ all, results: done }) => {
      if (/only echo/.test(all) && !/delegate this/.test(all))
        return done.length === 0 ? { calls: [use('step_9')] } : { text: `sub: ${done[0]}` };
      return done.length === 0
        ? { calls: [{ tool: 'delegate', args: { task: 'only echo', tools: ['bare__', 'everything__'] } }] }
        : { text: 'Reported.' };
    };
    const before = house.ledger.length;
    const { steps, end } = await house.ask('Please delegate this.', { mission: 'boss' });
    expect(end.answer).toBe('Reported.');
    const [inner, outer] = ofType(steps, 'tool_result');
    expect(inner).toMatchObject({ tool: 'ledger__step_9', code: 'TOOL_NOT_ALLOWED' });
    expect(inner.run).not.toBe(end.run_id);
    expect(outer).toMatchObject({ tool: 'delegate', isError: false });
    expect(house.ledger.length).toBe(before);
  });
});

describe('conversations', () => {
  verifies('agent.replay', async () => {
    model.answer = turns({ text: 'I look.', calls: [use('step_1')] }, { text: 'Done.' });
    const { run_id: id } = await house.begin('Do this.');
    const live = await house.watch(id);
    const again = await house.watch(id);
    const lasting = (steps: Json[]) => steps.filter(({ at, type }) => at !== undefined && type !== 'text');
    expect(lasting(again.steps)).toEqual(lasting(live.steps));
    expect(ofType(again.steps, 'text').map(({ text }) => text)).toEqual(['I look.', 'Done.']);
    const middle = again.ids[3];
    const rest = await house.watch(id, middle);
    expect(rest.ids).toEqual(again.ids.slice(4));
  });

  verifies('agent.branches', async () => {
    model.answer = ({ all }) => ({
      text: `seen: ${['red', 'green', 'blue'].filter((word) => all.includes(word)).join(' ')}`,
    });
    const first = await house.ask('red');
    const conversation = { conversation_id: first.end.conversation_id };
    const { entries } = await house.send('GET', `/api/agent/conversations/${first.end.conversation_id}`);
    expect(answerOf(await house.ask('green', conversation))).toBe('seen: red green');
    expect(answerOf(await house.ask('blue', { ...conversation, after: entries.at(-1).seq }))).toBe(
      'seen: red blue',
    );
    const { conversations } = await house.send('GET', '/api/agent/conversations');
    expect(conversations[0]).toMatchObject({ ...conversation, title: 'red' });
  });

  verifies('agent.structured', async () => {
    const output = 'output: { type: object, properties: { count: { type: integer } }, required: [count] }';
    const inputs = 'inputs: { what: { type: string }, how: { type: string, default: fast } }';
    await house.writeMission('count.yaml', `instructions: Count {{what}}, {{how}}.\n${inputs}\n${output}\n`);
    model.answer = ({ all }) => ({
      text: all.includes('What is wrong') ? '{"count": 3}' : 'There are three.',
    });
    const { end } = await house.ask('Go.', { mission: 'count', inputs: { what: 'birds' } });
    expect(end.data).toEqual({ count: 3 });
    expect(model.questions[0]?.all).toContain('Count birds, fast.');
    const wrong = await house.begin('Go.', { mission: 'count' });
    expect(wrong.error).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      details: { faults: ['"what" is missing'] },
    });
    await house.writeMission('broken', '---\nstrategie: plan\nlimits: { cost: 0 }\n---\n');
    const { missions } = await house.send('GET', '/api/agent/backends');
    expect(missions.find(({ name }: Json) => name === 'broken').fault).toMatch(/strategie.*cost/s);
  });
});
