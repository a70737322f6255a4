import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';

let running: RunningOrchestrator;
let usual: string;
beforeAll(async () => {
  running = await startOrchestrator();
  usual = prlimit('--raw', '--noheadings', '--output', 'SOFT', '--nofile').trim();
});
afterAll(() => running.stop());

const prlimit = (...args: string[]) =>
  execFileSync('prlimit', ['--pid', String(running.process.pid), ...args], { encoding: 'utf8' });

/** So many more files may be opened: the limit is on their numbers, and the lowest free one is taken. */
function leave(count: number): void {
  const taken = new Set(readdirSync(`/proc/${running.process.pid}/fd`).map(Number));
  let limit = 0;
  for (let free = 0; free < count; limit += 1) if (!taken.has(limit)) free += 1;
  prlimit(`--nofile=${limit}:`);
}

test('a server that cannot be started for want of open files says so; who has one is not disturbed', async () => {
  const call = async (session: string) => {
    const { body } = await api(running, session)
      .post('/api/mcp/execute')
      .send({ server_name: 'bare', tool_name: 'echo', arguments: { text: 'here' } });
    return body;
  };
  expect(await call('early')).toMatchObject({ success: true });
  leave(4);
  expect(await call('late')).toMatchObject({
    success: false,
    error: {
      code: 'PROVIDER_UNAVAILABLE',
      message: expect.stringMatching(
        /could not be started: the orchestrator may open no more files; .*ulimit -n/,
      ),
      retryable: true,
    },
  });
  expect(await call('early')).toMatchObject({ success: true });
  prlimit(`--nofile=${usual}:`);
  await eventually('the server starts for the other session', async () => (await call('late')).success);
});
