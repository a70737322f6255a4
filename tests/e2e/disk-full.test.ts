import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { makeCalls } from '../support/call-load.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { Watcher } from '../support/watcher.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator();
});
afterAll(() => running.stop());

/** No file of the orchestrator may grow beyond that: for it the disk is full. */
const allow = (bytes: string) =>
  execFileSync('prlimit', ['--pid', String(running.process.pid), `--fsize=${bytes}:`]);

verifies(
  'events.disk-full',
  async () => {
    const watcher = await Watcher.open(running);
    const load = (calls: number) =>
      makeCalls({ running, tool: 'bare/echo', session: 'disk', argsOf: (n) => ({ text: `${n}` }), calls });
    await load(100);
    await watcher.sawEnded(100);
    allow('4096');
    await load(3000);
    await watcher.sawEnded(3100);
    const waiting = () => watcher.events.some((event) => event.type === 'loss' && event.waiting > 0);
    await eventually('who watches is told that records wait', waiting);
    expect(running.output()).toContain('The store takes no records of calls');
    const metrics = await (await fetch(`${running.url}/metrics`, { headers: running.headers() })).text();
    expect(Number(/^mcpbridge_queue_length\{queue="records"\} (\d+)$/m.exec(metrics)?.[1])).toBe(3000);
    allow('unlimited');
    await eventually('all are recorded when there is room', async () => {
      const { total } = (await api(running).get('/api/calls?counts=status&limit=1')).body;
      return total === 3100;
    });
    expect(new Set(watcher.ended.map(({ id }) => id)).size).toBe(3100);
    expect(watcher.ended.length).toBe(3100);
    // Nor is any of them counted twice.
    const after = await (await fetch(`${running.url}/metrics`, { headers: running.headers() })).text();
    const counts = [...after.matchAll(/^mcpbridge_calls_total\{.*tool="echo".*\} (\d+)$/gm)];
    expect(counts.map(([, count]) => Number(count))).toEqual([3100]);
    watcher.close();
  },
  60_000,
);
