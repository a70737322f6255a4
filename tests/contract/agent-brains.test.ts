import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { BrainRequest, Message } from '@mcpbridge/agent/brains/brain.js';
import { BrainFactory } from '@mcpbridge/agent/brains/factory.js';
import { BrainFailure } from '@mcpbridge/agent/brains/failure.js';
import { askSteadily, type SteadyEvent } from '@mcpbridge/agent/brains/steady.js';
import { readAgentSettings } from '@mcpbridge/agent/settings.js';
import { verifies } from '../requirements.js';
import { brainOf, type ModelAnswer, type ModelServer, startModel } from '../support/model-api.js';

const KINDS = ['anthropic', 'openai', 'text-react'] as const;
type Kind = (typeof KINDS)[number];

const servers: ModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const factoryOf = (env: Record<string, string>) =>
  new BrainFactory(readAgentSettings(env, '/none/config.json'));
const echo = {
  name: 'echo',
  description: 'Says it again',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};
const request = (messages: Message[], more: Partial<BrainRequest> = {}): BrainRequest => ({
  system: 'Be good.',
  messages,
  tools: [echo],
  calling: 'many',
  ...more,
});
const question: Message[] = [{ role: 'user', text: 'Say grüß 👋' }];

/** A call as a model of that kind makes it. */
const callOf = (kind: Kind, text: string, args: object): ModelAnswer =>
  kind === 'text-react'
    ? { text: `Thought: ${text}\nAction: echo\nAction Input: ${JSON.stringify(args)}\nObservation: invented` }
    : { text, calls: [{ tool: 'echo', args }] };
const answerOf = (kind: Kind, text: string): ModelAnswer => ({
  text: kind === 'text-react' ? `Thought: so\nFinal Answer: ${text}` : text,
});

/** A brain of that kind whose model answers these, one after the other. */
async function start(kind: Kind, ...answers: ModelAnswer[]) {
  const model = await startModel(() => answers.shift() ?? { fails: { status: 500 } });
  servers.push(model);
  const brain = factoryOf(brainOf(kind, model)).make(kind);
  return { model, brain };
}

async function ask(brains: ReturnType<BrainFactory['make']>[], asked = request(question)) {
  const events: SteadyEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of askSteadily(brains, asked, signal, { attempts: 3, firstWaitMs: 1 }))
    events.push(event);
  const last = events.at(-1);
  if (last?.type !== 'reply') throw new Error('no reply');
  const said = (type: 'text' | 'thinking') =>
    events.map((event) => (event.type === type ? event.text : '')).join('');
  return {
    ...last,
    text: said('text'),
    thinking: said('thinking'),
    retries: events.filter(({ type }) => type === 'retry'),
  };
}

describe.each(KINDS)('the brain %s', (kind) => {
  test('streams an answer through awkward chunks, whole characters only', async () => {
    const { brain } = await start(kind, answerOf(kind, 'grüß 👋 dich 👩‍👩‍👧'));
    const { reply, text } = await ask([brain]);
    expect(reply.text).toBe('grüß 👋 dich 👩‍👩‍👧');
    expect(text).toBe(reply.text);
    expect(reply.calls).toEqual([]);
  });

  test('asks for a tool with its arguments, and is told the result', async () => {
    const { brain, model } = await start(
      kind,
      callOf(kind, 'I ask.', { text: 'ü "👋" \n' }),
      answerOf(kind, 'Done.'),
    );
    const { reply } = await ask([brain]);
    expect(reply).toMatchObject({
      text: 'I ask.',
      calls: [{ tool: 'echo', arguments: { text: 'ü "👋" \n' } }],
    });
    const [call] = reply.calls;
    const answers = [{ id: call?.id ?? '', tool: 'echo', text: 'the result', isError: false }];
    const messages: Message[] = [
      ...question,
      { role: 'assistant', text: reply.text, calls: reply.calls },
      { role: 'results', answers },
    ];
    expect((await ask([brain], request(messages))).reply.text).toBe('Done.');
    expect(model.questions[1]?.results).toEqual(['the result']);
  });

  test.each([
    ['429 with Retry-After', { fails: { status: 429, headers: { 'retry-after': '0' } } }, 'throttled'],
    [
      '529',
      {
        fails: {
          status: 529,
          body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
        },
      },
      'overloaded',
    ],
    ['500', { fails: { status: 500 } }, 'server'],
    ['a stream that is cut', { text: 'This will never be whole', cutAfter: 300 }, 'cut'],
  ] as [string, ModelAnswer, string][])(
    'after %s it is asked again, and what it had begun is taken back',
    async (_name, failure) => {
      const { brain, model } = await start(kind, failure, failure, answerOf(kind, 'At last.'));
      const { reply, retries } = await ask([brain]);
      expect(reply.text).toBe('At last.');
      expect(retries).toHaveLength(2);
      expect(model.questions).toHaveLength(3);
    },
  );

  test('a key that is refused is not tried again', async () => {
    const body = { error: { message: 'Incorrect API key provided: none-of-yours' } };
    const { brain, model } = await start(kind, { fails: { status: 401, body } });
    const failure = await ask([brain]).catch((thrown) => thrown);
    expect(failure).toBeInstanceOf(BrainFailure);
    expect(failure.kind).toBe('auth');
    expect(failure.message).toContain('[redacted]-of-yours');
    expect(model.questions).toHaveLength(1);
  });

  test('too much for its window is told apart', async () => {
    const error = {
      type: 'invalid_request_error',
      message: 'prompt is too long: 9 tokens exceeds the context length',
    };
    const { brain } = await start(kind, { fails: { status: 400, body: { type: 'error', error } } });
    expect(await ask([brain]).catch(({ kind: why }) => why)).toBe('too_long');
  });

  test('who aborts is not kept waiting', async () => {
    const { brain } = await start(kind, { fails: { status: 529, headers: { 'retry-after': '60' } } });
    const abort = new AbortController();
    const asking = (async () => {
      for await (const event of askSteadily([brain], request(question), abort.signal))
        if (event.type === 'retry') abort.abort(new Error('enough'));
    })();
    await expect(asking).rejects.toThrow('enough');
  });
});

verifies('agent.brains', async () => {
  const busy: ModelAnswer = { fails: { status: 529, headers: { 'retry-after': '0' } } };
  const first = await start('anthropic', busy, busy, busy);
  const second = await start(
    'openai',
    { text: 'half of it', breaks: true },
    { text: 'half of it', cutAfter: 400 },
    answerOf('openai', 'I stand in.'),
  );
  const { reply, brain, retries } = await ask([first.brain, second.brain]);
  expect(reply.text).toBe('I stand in.');
  expect(brain.name).toBe('openai:fake');
  expect(retries).toHaveLength(5);
  expect([first.model.questions.length, second.model.questions.length]).toEqual([3, 3]);
  expect(await ask([first.brain, second.brain]).catch(({ message }) => message)).toMatch(/failed by itself/);
});

describe('what single brains do', () => {
  test('anthropic: an error in the middle of a stream is overload, not an answer', async () => {
    const { brain } = await start(
      'anthropic',
      { text: 'half', breaks: true },
      answerOf('anthropic', 'Whole.'),
    );
    expect((await ask([brain])).reply.text).toBe('Whole.');
  });

  test('openai: thoughts beside the answer, as llama.cpp and others tell them', async () => {
    const { brain } = await start('openai', { thinking: 'hm, 👋', text: 'Yes.' });
    const { reply, thinking } = await ask([brain]);
    expect([reply.thinking, thinking, reply.text]).toEqual(['hm, 👋', 'hm, 👋', 'Yes.']);
  });

  test('images of results go to brains that see them, in their provider’s form; others are told of them', async () => {
    const pictures = [{ mimeType: 'image/png', data: 'aGk=' }];
    const call = { id: 'call_1', tool: 'echo', arguments: {} };
    const answers = [{ id: 'call_1', tool: 'echo', text: 'look', isError: false, pictures }];
    const messages: Message[] = [
      ...question,
      { role: 'assistant', text: 'I look.', calls: [call] },
      { role: 'results', answers },
    ];
    const told = async (kind: Kind, env: Record<string, string> = {}) => {
      const model = await startModel(() => answerOf(kind, 'Seen.'));
      servers.push(model);
      await ask([factoryOf({ ...brainOf(kind, model), ...env }).make(kind)], request(messages));
      return model.questions[0];
    };
    const anthropic = await told('anthropic');
    expect(anthropic?.body.messages.at(-1).content[0]).toMatchObject({
      tool_use_id: 'call_1',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
      ],
    });
    const openai = await told('openai', { AGENT_IMAGES: 'true' });
    expect(openai?.body.messages.slice(-2)).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: 'look' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Images of the result of "echo":' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        ],
      },
    ]);
    const note = '[An image (image/png, 1 kB) that you cannot see.]';
    expect((await told('openai'))?.results).toEqual([`look\n${note}`]);
    expect((await told('text-react'))?.all).toContain(`Observation: look\n${note}`);
    expect((await told('anthropic', { AGENT_IMAGES: 'false' }))?.results).toEqual([`look\n${note}`]);
  });

  test('prices come from the settings, with those of the cache', async () => {
    const AGENT_PRICES = 'anthropic:fake=3/15/0.3/3.75, fake=1/2';
    const cost = async (kind: Kind) => {
      const model = await startModel(() => answerOf(kind, 'Yes.'));
      servers.push(model);
      const brain = factoryOf({ ...brainOf(kind, model), AGENT_PRICES }).make(kind);
      return (await ask([brain])).reply.usage.cost;
    };
    expect(await cost('anthropic')).toBeCloseTo((12 * 3 + 8 * 0.3 + 15 * 15) / 1e6, 12);
    expect(await cost('openai')).toBeCloseTo((20 + 15 * 2) / 1e6, 12);
    expect(() => factoryOf({ AGENT_PRICES: 'fake=cheap' })).toThrow('AGENT_PRICES has "fake=cheap"; write');
  });

  test('several calls of one answer come in their order', async () => {
    for (const kind of ['anthropic', 'openai'] as const) {
      const calls = ['a', 'b', 'c'].map((text) => ({ tool: 'echo', args: { text } }));
      const { brain } = await start(kind, { calls });
      const { reply } = await ask([brain]);
      expect(reply.calls.map((call) => 'arguments' in call && call.arguments.text)).toEqual(['a', 'b', 'c']);
      expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(3);
    }
  });

  test('text-react: generation is stopped before an Observation, and one broken answer is repaired', async () => {
    const { brain, model } = await start(
      'text-react',
      { text: 'Thought: now\nAction: echo\nAction Input: {"text": "x' },
      callOf('text-react', 'now', { text: 'x' }),
    );
    const { reply } = await ask([brain]);
    expect(reply.calls).toMatchObject([{ tool: 'echo', arguments: { text: 'x' } }]);
    expect(model.questions[0]?.body.stop).toContain('Observation:');
    expect(model.questions[1]?.all).toContain('That could not be read: the Action Input is no JSON object');
  });

  test('text-react: what stays broken is a failed call, which the model is told', async () => {
    const broken = { text: 'Action: echo\nAction Input: {"text' };
    const { brain } = await start('text-react', broken, broken);
    expect((await ask([brain])).reply.calls).toMatchObject([
      { malformed: expect.stringContaining('Action: echo') },
    ]);
  });

  test('scripted: the turn follows from the conversation', async () => {
    const file = join(tmpdir(), `script-${process.pid}.json`);
    await writeFile(file, JSON.stringify([{ calls: [{ tool: 'echo' }] }, { thinking: 'hm', text: 'Done.' }]));
    const brain = factoryOf({ AGENT_BRAIN: `scripted:${file}` }).make('scripted');
    const { reply } = await ask([brain]);
    expect(reply.calls).toMatchObject([{ tool: 'echo', arguments: {} }]);
    const answers = [{ id: '1', tool: 'echo', text: 'x', isError: false }];
    const after: Message[] = [
      ...question,
      { role: 'assistant', text: '', calls: reply.calls },
      { role: 'results', answers },
    ];
    expect((await ask([brain], request(after))).reply.text).toBe('Done.');
  });

  test('the settings name what is set up, and say what to do where nothing is', () => {
    const both = factoryOf({
      ANTHROPIC_API_KEY: 'k',
      OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
      AGENT_BRAIN: 'openai:qwen,anthropic',
    });
    expect(both.backends().map(({ name }) => name)).toEqual([
      'openai:qwen',
      'anthropic:claude-sonnet-4-5',
      'text-react:default',
    ]);
    expect(both.namesOf()).toEqual(['openai:qwen', 'anthropic:claude-sonnet-4-5']);
    expect(both.namesOf('anthropic:claude-x')).toEqual(['anthropic:claude-x']);
    expect(() => factoryOf({}).namesOf()).toThrow('set ANTHROPIC_API_KEY');
    expect(() => both.namesOf('scripted:/etc/passwd')).toThrow('is not set up here');
    expect(() => factoryOf({ AGENT_BRAIN: 'gpt' })).toThrow('AGENT_BRAIN names "gpt"');
  });
});
