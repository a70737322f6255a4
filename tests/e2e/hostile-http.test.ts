import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended, fixture, startNode } from '../support/processes.js';
import { featuresServer, startBridge, textOf } from '../support/road.js';
import type { StdioPeer } from '../support/stdio-peer.js';

// A flood takes its time on a machine that has other work.
jest.setTimeout(120_000);

const servers: ChildProcess[] = [];
let running: RunningOrchestrator;
let bridge: StdioPeer;

/** Each flood comes from a server of its own, so that each is named for what it did. */
const FLOODS = [
  ['log', 'notifications'],
  ['list', 'notifications'],
  ['updated', 'notifications'],
  ['answers', 'answers'],
  ['pings', 'questions'],
  ['questions', 'questions'],
  ['comments', 'noise'],
  ['noise', 'noise'],
] as const;
const CALLS = ['inCall', 'progress', 'large'] as const;

beforeAll(async () => {
  const ids = [...FLOODS.map(([kind]) => kind), ...CALLS];
  const hostile = await Promise.all(ids.map(async (id) => [id, { url: await startHostile() }] as const));
  running = await startOrchestrator({
    servers: { ...Object.fromEntries(hostile), healthy: featuresServer() },
  });
  bridge = startBridge(running);
  await bridge.initialize({ elicitation: {} });
  await healthyCalls();
});
afterAll(async () => {
  bridge.close();
  await running.stop();
  for (const server of servers) {
    server.kill('SIGKILL');
    await ended(server);
  }
});

async function startHostile(): Promise<string> {
  const server = startNode(fixture('hostile-http.mjs'));
  servers.push(server);
  const [url] = await once(createInterface({ input: server.stdout as NodeJS.ReadableStream }), 'line');
  return String(url);
}

/** Twenty calls at once, each of which gets its own answer. */
async function healthyCalls(): Promise<void> {
  const texts = Array.from({ length: 20 }, (_, index) => `healthy ${index} ${Math.random()}`);
  const answers = await Promise.all(texts.map((text) => bridge.callTool('healthy__echo', { text })));
  expect(answers.map(textOf)).toEqual(texts);
}

/** Healthy calls go on while the flood does, until the server is named, and then some more. */
async function namedFor(id: string, what: string): Promise<string> {
  for (;;) {
    await healthyCalls();
    const response = await fetch(`${running.url}/api/servers/${id}`, { headers: running.headers() });
    const { bounded } = (await response.json()) as { bounded: { what: string; reason: string }[] };
    const bound = bounded.find((candidate) => candidate.what === what);
    if (!bound) continue;
    for (let round = 0; round < 5; round++) await healthyCalls();
    return bound.reason;
  }
}

async function expectEcho(id: string): Promise<void> {
  expect(textOf(await bridge.callTool(`${id}__echo`, { text: 'still there' }))).toBe('still there');
}

test.each(FLOODS)('a flood of %s over HTTP is thinned and named, and all else goes on', async (id, what) => {
  const [began, before] = [performance.now(), bridge.frames.length];
  await bridge.callTool(`${id}__attack`, { kind: id });
  expect(await namedFor(id, what)).toMatch(/^It .*\.$/);
  await expectEcho(id);
  await bridge.callTool(`${id}__calm`);
  await expectEcho(id);
  const seconds = (performance.now() - began) / 1000;
  const told = bridge.frames.slice(before).filter((frame) => frame.method !== undefined);
  // Twice what is let through in that time: what the flood before left on its way arrives in it too.
  expect(told.length).toBeLessThan(2 * 5000 * (seconds + 2));
});

test('a flood on the stream of a call is thinned and named, and its result arrives', async () => {
  const call = bridge.callTool('inCall__attack', { kind: 'log', where: 'call' });
  await namedFor('inCall', 'notifications');
  await bridge.callTool('inCall__calm');
  expect(textOf(await call)).toBe('flooded');
});

test('a flood of progress over HTTP is thinned, in order, and the result comes after its last step', async () => {
  const args = { kind: 'progress', where: 'call' };
  const call = bridge.callTool('progress__attack', args, { progressToken: 'mine' });
  await namedFor('progress', 'progress');
  await bridge.callTool('progress__calm');
  expect(textOf(await call)).toBe('flooded');
  const steps = bridge.frames.filter((frame) => frame.params?.progressToken === 'mine');
  const numbers = steps.map((frame) => frame.params.progress);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
});

test('of messages that are long as well fewer are taken', async () => {
  const before = bridge.frames.length;
  const began = performance.now();
  await bridge.callTool('large__attack', { kind: 'large' });
  await namedFor('large', 'notifications');
  await bridge.callTool('large__calm');
  const long = bridge.frames.slice(before).filter((frame) => frame.method === 'notifications/message');
  // Sixty-four KiB weigh sixty-five.
  expect(long.length).toBeLessThan((5000 / 65) * ((performance.now() - began) / 1000 + 3) * 2);
});
