import { afterEach, expect } from '@jest/globals';
import { verifies } from '../requirements.js';
import { HttpPeer } from '../support/http-peer.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { featuresServer, startBridge, textOf } from '../support/road.js';
import type { Frame, StdioPeer } from '../support/stdio-peer.js';
import { Trace } from '../support/trace.js';
import { Upstreams } from '../support/upstreams.js';

const LEGACY = 30;
const MODERN = 14;
const BRIDGES = 6;
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };
/** Of each kind of call, so many by each client at once. */
const TIMES = 3;

/** What became of the questions that one client's calls made the server ask. */
interface Told {
  /** The client answered. */
  asked: number;
  /** The server was told that there is nobody to ask. */
  refused: number;
}

/** One client: `mine` is in everything that it says, and in nothing that anybody else says. */
interface Client {
  mine: string;
  peer: StdioPeer | HttpPeer;
  /** Everything at once; resolves when all that surely comes has come. */
  talk(): Promise<Told>;
}

let running: RunningOrchestrator;
let trace: Trace;
let clients: Client[] = [];
const upstreams = new Upstreams();
afterEach(async () => {
  for (const { peer } of clients) peer.close();
  await running.stop();
  await upstreams.close();
});

async function start(isolation: 'session' | 'shared', transport: 'stdio' | 'http' = 'stdio'): Promise<void> {
  trace = await Trace.make();
  const env = { TRACE_FILE: trace.file };
  const server =
    transport === 'stdio'
      ? featuresServer(env, { isolation })
      : { url: `${(await upstreams.httpServer(env)).url}/mcp`, isolation };
  running = await startOrchestrator({ servers: { features: server } });
  const names = Array.from({ length: LEGACY + MODERN + BRIDGES }, (_, index) => `client-${index}.`);
  clients = await Promise.all(names.map((mine, index) => connect(mine, index)));
}

async function connect(mine: string, index: number): Promise<Client> {
  if (index < LEGACY) return legacyClient(mine, await HttpPeer.legacy(running, CAPABILITIES));
  if (index < LEGACY + MODERN)
    return modernClient(mine, HttpPeer.modern(running, `session-${index}`, CAPABILITIES));
  const bridge = startBridge(running);
  await bridge.initialize(CAPABILITIES);
  return legacyClient(mine, bridge);
}

const each = <T>(work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: TIMES }, (_, index) => work(index)));

/** What both eras do in the same words. */
async function commonTalk(
  mine: string,
  request: (method: string, params: Frame) => Promise<Frame>,
  frames: Frame[],
): Promise<void> {
  const call = (name: string, args: object, more: object = {}) =>
    request('tools/call', { name: `features__${name}`, arguments: args, ...more });
  await Promise.all([
    each(async (index) => {
      const text = `${mine} echo ${index}`;
      expect(textOf(await call('echo', { text }))).toBe(text);
    }),
    each(async (progressToken) => {
      const text = `${mine} token ${progressToken}`;
      expect(textOf(await call('progress', { steps: 4, text }, { _meta: { progressToken } }))).toBe(
        '4 steps',
      );
      const steps = frames.filter((frame) => frame.params?.progressToken === progressToken);
      expect(steps.map((frame) => frame.params.message)).toEqual(
        [1, 2, 3, 4].map((step) => `${text} ${step}`),
      );
    }),
    each(async (index) => {
      const uri = `test://${mine}${index}`;
      const { result } = await request('resources/read', { uri });
      expect(result.contents).toEqual([{ uri, text: `content of ${uri}`, 'x-own': 1 }]);
    }),
    each(async (index) => {
      const who = `${mine}${index}`;
      const { result } = await request('prompts/get', { name: 'features__greet', arguments: { who } });
      expect(result.messages[0].content.text).toBe(`Greet ${who}`);
    }),
    each(async (index) => {
      const value = `${mine}${index}`;
      const ref = { type: 'ref/prompt', name: 'features__greet' };
      const { result } = await request('completion/complete', { ref, argument: { name: 'who', value } });
      expect(result.completion.values).toEqual([`${value}-done`]);
    }),
  ]);
}

const QUESTIONS: ((text: string) => { method: string; params: Frame })[] = [
  (text) => ({
    method: 'elicitation/create',
    params: { message: text, requestedSchema: { type: 'object' } },
  }),
  (text) => ({
    method: 'sampling/createMessage',
    params: { maxTokens: 9, messages: [{ role: 'user', content: { type: 'text', text } }] },
  }),
  (text) => ({ method: 'roots/list', params: { _meta: { about: text } } }),
];

/** The answer of one client to one question: nobody else gives it, and it to no other question. */
const answerTo = (mine: string, { method, params }: Frame) => ({
  content: { by: mine, to: JSON.stringify([method, params]) },
});

/** The server's account of the answer that it got to its question. */
function checkAnswer(mine: string, question: Frame, account: string | undefined, told: Told): void {
  const { result, error } = JSON.parse(account ?? '');
  if (error || result.roots) {
    if (error) expect(error.message).toMatch(/nobody who could be asked/);
    else expect(result).toEqual({ roots: [] });
    told.refused += 1;
  } else expect(result).toEqual(answerTo(mine, question));
}

function legacyClient(mine: string, peer: StdioPeer | HttpPeer): Client {
  const { frames } = peer;
  const request = (method: string, params: Frame): Promise<Frame> => peer.request(method, params);
  const call = (name: string, args: object, more: object = {}) =>
    request('tools/call', { name: `features__${name}`, arguments: args, ...more });
  const told: Told = { asked: 0, refused: 0 };

  /** Answers every question that arrives until the talk is over. */
  async function answerQuestions(): Promise<void> {
    const isNew = (known: number) => (frame: Frame) =>
      frame.method !== undefined && frame.id !== undefined && frames.indexOf(frame) >= known;
    for (let known = 0; ; ) {
      const question = await peer.waitFor(isNew(known));
      known = frames.indexOf(question) + 1;
      told.asked += 1;
      void peer.send({ id: question.id, result: answerTo(mine, question) });
    }
  }

  async function cancelOne(): Promise<void> {
    const text = `${mine} to be cancelled`;
    const id = 9999;
    const params = { name: 'features__wait', arguments: { text }, _meta: { progressToken: 'waiting' } };
    void peer.send({ id, method: 'tools/call', params });
    const step = await peer.waitFor((frame) => frame.params?.progressToken === 'waiting');
    expect(step.params.message).toBe(text);
    await peer.notify('notifications/cancelled', { requestId: id, reason: text });
  }

  return {
    mine,
    peer,
    async talk() {
      void answerQuestions();
      const uri = `test://${mine}`;
      await Promise.all([
        commonTalk(mine, request, frames),
        each(async (index) =>
          expect(textOf(await call('log', { text: `${mine} log ${index}` }))).toBe('logged'),
        ),
        call('log_after', { text: `${mine} log after` }),
        request('resources/subscribe', { uri }).then(() => call('touch', { uri })),
        cancelOne(),
        ...QUESTIONS.map(async (make, index) => {
          const question = make(`${mine} question ${index}`);
          checkAnswer(mine, question, textOf(await call('ask', question)), told);
        }),
      ]);
      return told;
    },
  };
}

function modernClient(mine: string, peer: HttpPeer): Client {
  const { frames } = peer;
  const told: Told = { asked: 0, refused: 0 };

  /** Questions of the server come back as the result of any request under way, which is then made again with the answers. */
  async function request(method: string, params: Frame, signal?: AbortSignal): Promise<Frame> {
    const answer = await peer.request(method, params, signal);
    const { resultType, inputRequests = {}, requestState } = answer.result ?? {};
    if (resultType !== 'input_required') return answer;
    const answers = Object.entries(inputRequests as Record<string, Frame>).map(([key, question]) => [
      key,
      answerTo(mine, question),
    ]);
    told.asked += answers.length;
    return request(method, { ...params, inputResponses: Object.fromEntries(answers), requestState }, signal);
  }

  const call = (name: string, args: object, more: object = {}, signal?: AbortSignal) =>
    request('tools/call', { name: `features__${name}`, arguments: args, ...more }, signal);

  async function cancelOne(): Promise<void> {
    const text = `${mine} to be cancelled`;
    const controller = new AbortController();
    void call('wait', { text }, { _meta: { progressToken: 'waiting' } }, controller.signal).catch(() => {});
    const step = await peer.waitFor((frame) => frame.params?.progressToken === 'waiting');
    expect(step.params.message).toBe(text);
    controller.abort();
  }

  async function subscribe(): Promise<void> {
    const uri = `test://${mine}`;
    void peer
      .request('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } })
      .catch(() => {});
    await peer.waitFor((frame) => frame.method === 'notifications/subscriptions/acknowledged');
    await call('touch', { uri });
  }

  return {
    mine,
    peer,
    async talk() {
      // Alone: a question that came back by this call would be given up with it.
      await cancelOne();
      await Promise.all([
        commonTalk(mine, request, frames),
        each(async (index) =>
          expect(textOf(await call('log', { text: `${mine} log ${index}` }))).toBe('logged'),
        ),
        call('log_after', { text: `${mine} log after` }),
        subscribe(),
        ...QUESTIONS.map(async (make, index) => {
          const question = make(`${mine} question ${index}`);
          checkAnswer(mine, question, textOf(await call('ask', question)), told);
        }),
      ]);
      return told;
    },
  };
}

const valuesOf = ({ peer }: Client, method: string, member: string): string[] =>
  peer.frames.filter((frame) => frame.method === method).map((frame) => frame.params[member]);
const logsOf = (client: Client) => valuesOf(client, 'notifications/message', 'data');
const updatesOf = (client: Client) => valuesOf(client, 'notifications/resources/updated', 'uri');

/** Whatever came to a client speaks of it alone, and each of its requests was answered once. */
function expectNothingCrossed({ mine, peer }: Client): void {
  const names = JSON.stringify(peer.frames).match(/client-\d+\./g) ?? [];
  expect([...new Set(names)]).toEqual([mine]);
  const answered = peer.frames.filter((frame) => frame.method === undefined).map((frame) => frame.id);
  expect(new Set(answered).size).toBe(answered.length);
  expect(answered).not.toContain(9999);
}

/** It hears of its own resource, once. */
async function expectUpdate(client: Client): Promise<void> {
  const uri = `test://${client.mine}`;
  await client.peer.waitFor((frame) => frame.params?.uri === uri && frame.method !== undefined);
  expect(updatesOf(client)).toEqual([uri]);
}

/** Each call that was cancelled, and no other, was cancelled at the server. */
async function expectCancellations(): Promise<void> {
  await trace.saw('cancelled', clients.length);
  const waiting = trace.lines.filter((line) => line.startsWith('waiting '));
  expect(waiting.map((line) => /client-\d+\./.exec(line)?.[0]).sort()).toEqual(
    clients.map(({ mine }) => mine).sort(),
  );
  expect(trace.count('cancelled')).toBe(clients.length);
}

verifies(
  'fidelity.fifty-clients',
  async () => {
    await start('session');
    const told = await Promise.all(clients.map((client) => client.talk()));
    for (const [index, client] of clients.entries()) {
      expect(told[index]).toMatchObject({ asked: QUESTIONS.length, refused: 0 });
      const lines = [0, 1, 2].map((line) => `${client.mine} log ${line}`);
      // A modern client hears log lines in the answer to a request alone, and no line says to which it belongs.
      const isModern = index >= LEGACY && index < LEGACY + MODERN;
      const late = `${client.mine} log after`;
      if (!isModern) await client.peer.waitFor((frame) => frame.params?.data === late);
      if (isModern) expect([...lines, late]).toEqual(expect.arrayContaining(logsOf(client)));
      else expect(logsOf(client).sort()).toEqual([...lines, late].sort());
      await expectUpdate(client);
    }
    await expectCancellations();
    for (const client of clients) expectNothingCrossed(client);
  },
  60_000,
);

verifies(
  'fidelity.fifty-shared-http',
  async () => {
    await start('shared', 'http');
    const told = await Promise.all(clients.map((client) => client.talk()));
    await expectCancellations();
    for (const [index, client] of clients.entries()) {
      expect(told[index]).toEqual({ asked: QUESTIONS.length, refused: 0 });
      expect(logsOf(client).sort()).toEqual([0, 1, 2].map((line) => `${client.mine} log ${line}`));
      await expectUpdate(client);
      expectNothingCrossed(client);
    }
  },
  120_000,
);

verifies(
  'fidelity.fifty-shared',
  async () => {
    await start('shared');
    const told = await Promise.all(clients.map((client) => client.talk()));
    await expectCancellations();
    // By the ids of the one connection: who cancelled, and whose call the server was told of.
    const cancelled = new Set(trace.lines.flatMap((line) => /^cancelled (\d+)/.exec(line)?.[1] ?? []));
    const waiting = new Set(trace.lines.flatMap((line) => /^waiting (\d+)/.exec(line)?.[1] ?? []));
    expect(cancelled).toEqual(waiting);
    for (const [index, client] of clients.entries()) {
      const { asked = 0, refused = 0 } = told[index] ?? {};
      expect(asked + refused).toBe(QUESTIONS.length);
      await expectUpdate(client);
      expectNothingCrossed(client);
    }
    // A line that comes after its call, while one call of somebody else runs, is that one's no more than anybody's.
    const [first, second] = clients as [Client, Client];
    const after = first.peer.request('tools/call', {
      name: 'features__log_after',
      arguments: { text: first.mine },
    });
    await after;
    const slow = second.peer.request('tools/call', { name: 'features__slow', arguments: { ms: 100 } });
    expect(textOf((await slow) as { result?: object })).toBe('slept');
    for (const client of clients) expectNothingCrossed(client);
  },
  60_000,
);
