import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { makeCalls } from '../support/call-load.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { Watcher } from '../support/watcher.js';

/** LOAD_SECONDS=30 is the whole of it. */
const SECONDS = Number(process.env.LOAD_SECONDS ?? 4);
const PER_SECOND = 2000;

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator();
});
afterAll(() => running.stop());

const mean = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
const megabytes = () => {
  const status = readFileSync(`/proc/${running.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
};

verifies(
  'events.load',
  async () => {
    const watchers = [
      await Watcher.open(running),
      await Watcher.open(running, { q: 'status:ok server:bare' }),
      await Watcher.open(running, { q: 'arg.text:"call 7"' }),
    ];
    const load = (seconds: number) =>
      makeCalls({
        running,
        tool: 'bare/echo',
        session: 'load',
        argsOf: (number) => ({ text: `call ${number % 10}`, more: 'x'.repeat(100) }),
        calls: seconds * PER_SECOND,
        perSecond: PER_SECOND,
        connections: 32,
      });
    const memory: number[] = [];
    const sampling = setInterval(() => memory.push(megabytes()), 500);
    await load(SECONDS);
    clearInterval(sampling);
    const all = SECONDS * PER_SECOND;
    const [everything, some, few] = watchers as [Watcher, Watcher, Watcher];
    await everything.sawEnded(all, 60_000);
    await some.sawEnded(all, 60_000);
    await few.sawEnded(all / 10, 60_000);
    expect(new Set(everything.ended.map(({ id }) => id)).size).toBe(all);
    expect(few.ended.length).toBe(all / 10);
    const { total } = (await api(running).get('/api/calls?q=session:load&limit=1&counts=status')).body;
    expect(total).toBe(all);
    // In its first ten seconds a heap only grows to its size; a leak of a record a call would show as 30 MB here.
    if (SECONDS >= 30) {
      const [middle, end] = [memory.slice(20, 40), memory.slice(40)].map(mean) as [number, number];
      console.error(`${all} calls; MB: ${memory.map(Math.round).join(' ')}`);
      expect(end - middle).toBeLessThan(25);
    }
    for (const watcher of watchers) watcher.close();
  },
  180_000,
);
