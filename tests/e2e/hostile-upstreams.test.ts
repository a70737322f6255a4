import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { fixture } from '../support/processes.js';
import { featuresServer, startBridge, textOf } from '../support/road.js';
import type { Frame, StdioPeer } from '../support/stdio-peer.js';

// A flood takes its time on a machine that has other work; what must not take long is seen by the calls beside it.
jest.setTimeout(120_000);

interface ServerView {
  state: string;
  tools: number;
  bounded: { what: string; reason: string; times: number }[];
  set_aside: { name: string; reason: string }[];
}

const MIB = 1024 * 1024;
let running: RunningOrchestrator;
let bridge: StdioPeer;
let restingMemory = 0;

async function start(list = 'plain'): Promise<void> {
  const hostile = { command: process.execPath, args: [fixture('hostile-server.mjs')], env: { LIST: list } };
  running = await startOrchestrator({ servers: { hostile, healthy: featuresServer() } });
  bridge = startBridge(running);
  await bridge.initialize({ elicitation: {} });
  await healthyCalls();
  restingMemory = memory('VmRSS');
}

afterEach(async () => {
  bridge.close();
  await running.stop();
});

/** Bytes, of the orchestrator's process. */
function memory(what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${running.process.pid}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

/** Beyond what it had before: one message of the limit and a few copies of what was last read, never what was sent in all. */
function expectPeakBelow(bytes: number): void {
  expect(memory('VmHWM') - restingMemory).toBeLessThan(bytes);
}

/** Twenty calls at once, each of which gets its own answer. */
async function healthyCalls(): Promise<void> {
  const texts = Array.from({ length: 20 }, (_, index) => `healthy ${index} ${Math.random()}`);
  const answers = await Promise.all(texts.map((text) => bridge.callTool('healthy__echo', { text })));
  expect(answers.map(textOf)).toEqual(texts);
}

async function hostile(): Promise<ServerView> {
  const response = await fetch(`${running.url}/api/servers/hostile`, { headers: running.headers() });
  return (await response.json()) as ServerView;
}

async function boundOf(what: string): Promise<ServerView['bounded'][number] | undefined> {
  return (await hostile()).bounded.find((bound) => bound.what === what);
}

/** Healthy calls go on while the attack does, until the server is named. */
async function namedFor(what: string, reason = /./): Promise<string> {
  for (;;) {
    await healthyCalls();
    const bound = await boundOf(what);
    if (!bound || !reason.test(bound.reason)) continue;
    expect(running.output()).toContain('Server \\"hostile\\" is held within bounds');
    return bound.reason;
  }
}

async function expectEcho(): Promise<void> {
  expect(textOf(await bridge.callTool('hostile__echo', { text: 'still there' }))).toBe('still there');
}

const attack = (args: object, meta?: object): Promise<Frame> =>
  bridge.callTool('hostile__attack', args, meta);
const errorOf = (frame: Frame) => frame.result?._meta?.['mcpbridge/error'];
const framesOf = (method: string) => bridge.frames.filter((frame) => frame.method === method);

describe('a flood', () => {
  test.each([
    ['log', 'notifications'],
    ['list', 'notifications'],
    ['updated', 'notifications'],
    ['answers', 'answers'],
    ['pings', 'questions'],
    ['questions', 'questions'],
    ['noise', 'noise'],
    ['stderr', 'stderr'],
  ])('of %s is thinned and named, and all else goes on', async (kind, what) => {
    await start();
    const began = performance.now();
    await attack({ kind });
    expect(await namedFor(what)).toMatch(/^It .*\.$/);
    await expectEcho();
    for (let round = 0; round < 20; round++) await healthyCalls();
    await bridge.callTool('hostile__calm');
    await expectEcho();
    const seconds = (performance.now() - began) / 1000;
    for (const method of ['notifications/message', 'notifications/resources/updated', 'elicitation/create']) {
      expect(framesOf(method).length).toBeLessThan(5000 * (seconds + 2));
    }
    expectPeakBelow(400 * MIB);
  });

  test('of progress is thinned to what can be read, in order, and its last step arrives before the result', async () => {
    await start();
    const call = attack({ kind: 'progress', count: 100_000 }, { progressToken: 'mine' });
    await namedFor('progress');
    expect(textOf(await call)).toBe('arrived');
    const steps = bridge.frames.filter((frame) => frame.params?.progressToken === 'mine');
    const numbers = steps.map((frame) => frame.params.progress);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(numbers.at(-1)).toBe(100_000);
    expect(numbers.length).toBeLessThan(50_000);
    expect(bridge.frames.indexOf(steps.at(-1) as Frame)).toBeLessThan(bridge.frames.length - 1);
    expectPeakBelow(400 * MIB);
  });

  test('is none where a thousand steps of a call come at once: all arrive', async () => {
    await start();
    await attack({ kind: 'progress', count: 1000 }, { progressToken: 'mine' });
    const numbers = framesOf('notifications/progress').map((frame) => frame.params.progress);
    expect(numbers).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    expect((await hostile()).bounded).toEqual([]);
  });
});

describe('a message', () => {
  test.each([
    ['with its id first', {}],
    ['with its id last', { idLast: true }],
    ['that never ends', { ends: false }],
    ['that never ends and shows no id', { ends: false, idLast: true }],
  ])('of a gigabyte %s fails its own call, and the server is started anew', async (_how, how) => {
    await start();
    const call = attack({ kind: 'large', megabytes: 1024, ...how });
    expect(await namedFor('message', /without an end/)).toContain('It sent a message of more than');
    expect(errorOf(await call)).toMatchObject({
      code: 'RESULT_TOO_LARGE',
      message: expect.stringContaining('"hostile" sent a message of more than'),
    });
    await expectEcho();
    // Sixty-four megabytes are kept of it, and what was read besides waits for the garbage collector.
    expectPeakBelow(300 * MIB);
  });

  test.each([true, false])('of a gigabyte that nobody asked for is not kept (ends: %s)', async (ends) => {
    await start();
    expect(textOf(await attack({ kind: 'unasked', megabytes: 1024, ends }))).toBe('here it comes');
    await namedFor('message', /without an end/);
    await expectEcho();
    expectPeakBelow(300 * MIB);
  });

  test.each([{}, { idLast: true }])('of a hundred megabytes fails its own call alone (%j)', async (how) => {
    await start();
    const call = attack({ kind: 'large', megabytes: 100, ...how });
    await namedFor('message');
    expect(errorOf(await call)).toMatchObject({ code: 'RESULT_TOO_LARGE' });
    await expectEcho();
    expectPeakBelow(300 * MIB);
  });

  test('of millions of arrays, which would fill the memory, is not read', async () => {
    await start();
    const call = attack({ kind: 'containers' });
    expect(await namedFor('message')).toContain('more than 2000000 objects and arrays');
    expect(errorOf(await call)).toMatchObject({ code: 'RESULT_TOO_LARGE' });
    await expectEcho();
    expectPeakBelow(400 * MIB);
  });

  test('of a million levels fails its own call', async () => {
    await start();
    const call = attack({ kind: 'deep' });
    expect(await namedFor('depth')).toBe('It sends JSON of more than 512 levels.');
    expect(errorOf(await call)).toMatchObject({
      code: 'PROVIDER_ERROR',
      message: 'Server "hostile" answered tools/call with JSON of more than 512 levels.',
    });
    await expectEcho();
    expectPeakBelow(400 * MIB);
  });

  test('of a million levels that nobody asked for reaches nobody', async () => {
    await start();
    expect(textOf(await attack({ kind: 'deepNews' }))).toBe('after the deep ones');
    await namedFor('depth');
    await expectEcho();
    expect([...framesOf('notifications/message'), ...framesOf('elicitation/create')]).toEqual([]);
    expectPeakBelow(400 * MIB);
  });
});

describe('a list of tools', () => {
  test.each([
    ['endless', 'there are more than 1000 pages', 4],
    ['growing', 'there are more than 10000 tools', 10_000],
    ['many', 'there are more than 10000 tools', 10_000],
  ])('that is %s is cut and named, and what was read of it works', async (list, reason, tools) => {
    await start(list);
    expect(await namedFor('tools')).toContain(reason);
    expect(await hostile()).toMatchObject({
      state: 'ready',
      tools,
      set_aside: [{ name: 'tools/list', reason }],
    });
    await expectEcho();
    expectPeakBelow(400 * MIB);
  });

  test('with one tool of millions of levels or characters has the others', async () => {
    for (const [list, name, reason] of [
      ['deep', 'abyss', 'it has more than 512 levels'],
      ['huge', 'huge', 'its definition has 5242944 characters; at most 1048576 are taken'],
    ] as const) {
      await start(list);
      expect(await hostile()).toMatchObject({ state: 'ready', set_aside: [{ name, reason }] });
      await expectEcho();
      await healthyCalls();
      expectPeakBelow(400 * MIB);
      if (list === 'huge') break;
      bridge.close();
      await running.stop();
    }
    // The schema of half a megabyte is the server's own to enforce: to compile it would take seconds.
    expect(textOf(await bridge.callTool('hostile__wide', { property_1: '' }))).toBe('{"property_1":""}');
  });

  test('whose schemas refer to themselves is used: what ends is checked, what does not is left to the server', async () => {
    await start('circular');
    expect(await hostile()).toMatchObject({ state: 'ready', tools: 9, set_aside: [] });
    const wrong = await bridge.callTool('hostile__root', { child: { child: { n: 'no number' } } });
    expect(errorOf(wrong)).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: expect.stringContaining('/child/child/n: must be number'),
    });
    for (const name of ['root', 'endless', 'mutual', 'dynamic', 'laughing']) {
      const args = { child: { n: 1 }, x: { y: 1 } };
      expect(JSON.parse(textOf(await bridge.callTool(`hostile__${name}`, args)) ?? '')).toEqual(args);
    }
    await healthyCalls();
    expectPeakBelow(400 * MIB);
  });
});

verifies('hostile.patterns', async () => {
  await start();
  const args = { text: `${'a'.repeat(5000)}!` };
  await bridge.callTool('hostile__patterned', args);
  // The linear engine is there by now.
  await healthyCalls();
  const frame = await bridge.callTool('hostile__patterned', args);
  expect([errorOf(frame)?.code ?? textOf(frame)]).toEqual([expect.stringMatching(/INVALID_ARGUMENTS|aaa/)]);
  await healthyCalls();
});
