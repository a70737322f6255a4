import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { badServer } from '../faults/support/house.js';
import { Remote } from '../faults/support/remote.js';
import { type Census, probed, takeCensus } from '../support/census.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { root } from '../support/processes.js';
import { drawGraph } from './support/graph.js';
import { lives } from './support/sessions.js';
import { trendOf } from './support/trend.js';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 2);
const SESSIONS_A_SECOND = 5;
/** Code is compiled, caches fill, the heap finds its size: half of the time is not looked at. */
const WARM_UP_S = MINUTES * 30;
const IS_SHORT = MINUTES < 10;
const LOW_OF_S = 5;
/**
 * Bytes a session, of which the growth has to be surely less. A session that is forgotten with its connection holds the
 * connection's rings and closures, kilobytes of heap, and as many of buffers outside of it. In the first minutes what V8
 * learns of the code weighs 1 to 2 KiB a session, ever less with time; that of the whole process, which takes and gives
 * memory by megabytes, later the busier the machine is, so that in a short run only a gross leak stands out of it.
 */
const LIMITS = IS_SHORT
  ? { heap: 4096, external: 4096, rss: 131_072 }
  : { heap: 1024, external: 1024, rss: 4096 };

let running: RunningOrchestrator;
let remote: Remote;
let before: Census;
let after: Census;
const samples: Census[] = [];
const failures: string[] = [];
let opened = 0;

const folder = join(root, '.cache/soak');
const probe = join(mkdtempSync(join(tmpdir(), 'mcpbridge-soak-')), 'probe');
const rest = (ms: number) => new Promise((next) => setTimeout(next, ms));

beforeAll(
  async () => {
    remote = await Remote.start();
    const servers = {
      own: bareServer,
      common: badServer({ isolation: 'shared' }),
      far: { url: remote.url('mcp') },
    };
    running = await startOrchestrator({ servers, env: { ...probed(probe), PROBE_GC: '1' } });
    // What starts with the first call is no growth.
    await fetch(`${running.url}/tools/mcp/own/echo`, {
      method: 'POST',
      headers: running.headers('first'),
      body: '{}',
    });
    await fetch(`${running.url}/api/sessions/first`, { method: 'DELETE', headers: running.headers() });
    await rest(6000);
    before = await takeCensus(running, probe);
    await soak(Object.keys(servers));
    after = await emptied();
    draw();
  },
  MINUTES * 60_000 + 120_000,
);

afterAll(async () => {
  await running?.stop();
  await remote?.stop();
});

/** Opens sessions at their pace, whatever the earlier ones do, and samples once a second. */
async function soak(servers: string[]): Promise<void> {
  const alive = new Set<Promise<void>>();
  const end = performance.now() + MINUTES * 60_000;
  const start = performance.now();
  while (performance.now() < end) {
    const server = servers[opened % servers.length] ?? '';
    const life = lives[Math.floor(opened / servers.length) % lives.length];
    opened += 1;
    const one: Promise<void> = (life?.(running, server) ?? Promise.resolve())
      .catch((error) => void failures.push(String(error)))
      .finally(() => alive.delete(one));
    alive.add(one);
    if (opened % SESSIONS_A_SECOND === 0) samples.push(await takeCensus(running, probe));
    await rest(Math.max(0, start + (opened * 1000) / SESSIONS_A_SECOND - performance.now()));
  }
  await Promise.all(alive);
}

/** What it holds when the last session is over, as soon as that is as little as before, or after 10 s. */
async function emptied(): Promise<Census> {
  for (let second = 0; ; second++) {
    const now = await takeCensus(running, probe);
    if (
      second === 10 ||
      (['processes', 'sockets', 'timers'] as const).every((kind) => now[kind] <= before[kind])
    )
      return now;
    await rest(1000);
  }
}

const series = (kind: keyof Census) => samples.map((sample) => sample[kind]);
const warm = (kind: keyof Census) => series(kind).slice(WARM_UP_S);

function draw(): void {
  mkdirSync(folder, { recursive: true });
  const mib = (kind: keyof Census) => series(kind).map((bytes) => bytes / 1024 / 1024);
  const graph = drawGraph(`The orchestrator, ${opened} sessions in ${MINUTES} minutes`, [
    { title: 'memory, MiB', lines: { RSS: mib('rss'), heap: mib('heap') } },
    {
      title: 'handles',
      lines: { handles: series('handles'), sockets: series('sockets'), timers: series('timers') },
    },
    { title: 'processes and threads', lines: { processes: series('processes'), threads: series('threads') } },
  ]);
  writeFileSync(join(folder, 'soak.svg'), graph);
  writeFileSync(
    join(folder, 'soak.json'),
    JSON.stringify({ minutes: MINUTES, opened, before, after, samples }),
  );
}

/** What it comes down to in the quietest tenth of the time. */
function lowOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 10)] ?? 0;
}

/** The lowest of each five seconds: what is collected but not yet given back stands above it now and then. */
function lowsOf(values: readonly number[]): number[] {
  const count = Math.floor(values.length / LOW_OF_S);
  return Array.from({ length: count }, (_, at) =>
    Math.min(...values.slice(at * LOW_OF_S, (at + 1) * LOW_OF_S)),
  );
}

/** The least growth that the samples leave room for, in bytes a session. */
function growth(kind: keyof typeof LIMITS): number {
  const { slope, error } = trendOf(lowsOf(warm(kind)));
  const sessions = SESSIONS_A_SECOND * LOW_OF_S;
  console.log(`${kind}: ${Math.round(slope / sessions)} ± ${Math.round(error / sessions)} bytes a session`);
  return (slope - 2 * error) / sessions;
}

describe(`${SESSIONS_A_SECOND} sessions a second, opened and dropped`, () => {
  test('every call of every session was answered', () => {
    expect(failures).toEqual([]);
    expect(opened).toBeGreaterThan(MINUTES * 60 * SESSIONS_A_SECOND * 0.9);
  });

  test.each([
    ['the heap does', 'heap'],
    ['what buffers hold outside of it does', 'external'],
    ['the memory of the process does', 'rss'],
  ] as const)('%s not grow with them', (_, kind) => {
    expect(growth(kind)).toBeLessThan(LIMITS[kind]);
  });

  test.each(['processes', 'handles', 'sockets', 'threads', 'timers'] as const)(
    'the number of %s is as low at the end as at the beginning',
    (kind) => {
      const values = warm(kind);
      const third = Math.floor(values.length / 3);
      const [first, last] = [lowOf(values.slice(0, third)), lowOf(values.slice(-third))];
      // A busy machine has sessions pile up for a while; what leaks does not go away in the quiet moments between.
      expect(last).toBeLessThanOrEqual(first * 1.25 + 5);
    },
  );

  test.each(['processes', 'sockets', 'threads', 'timers'] as const)(
    'afterwards there are as many %s as before',
    (kind) => {
      expect(after[kind]).toBeLessThanOrEqual(before[kind]);
    },
  );
});
