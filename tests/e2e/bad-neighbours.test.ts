import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, fixture } from '../support/processes.js';
import { featuresServer, startBridge } from '../support/road.js';

const HEALTHY = Array.from({ length: 17 }, (_, index) => `good${index}`);
const healthy = Object.fromEntries(HEALTHY.map((id) => [id, bareServer]));
const bad = {
  dead: { command: 'no-such-program-here' },
  late: { command: 'sh', args: ['-c', `sleep 30; exec node ${fixture('bare-server.mjs')}`] },
  crashing: featuresServer(),
};

let alone: RunningOrchestrator;
let beside: RunningOrchestrator;
beforeAll(async () => {
  [alone, beside] = await Promise.all([
    startOrchestrator({ servers: healthy }),
    startOrchestrator({ servers: { ...healthy, ...bad }, early: true }),
  ]);
  await eventually(
    'the good servers are ready',
    async () => (await statesOf(beside)).filter((state) => state === 'ready').length === HEALTHY.length + 1,
    60_000,
  );
}, 120_000);
afterAll(() => Promise.all([alone, beside].map((running) => running?.stop())));

async function statesOf(running: RunningOrchestrator): Promise<string[]> {
  const { body } = await api(running).get('/api/mcp-config/status');
  return body.servers.map((server: { state: string }) => server.state);
}

async function stateOf(id: string): Promise<{ state: string; reason?: string; retryAt?: number }> {
  return (await api(beside).get(`/api/servers/${id}`)).body;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

test('tools/list has all tools of the rest while one server is dead and one still starts', async () => {
  const bridge = startBridge(beside);
  await bridge.initialize();
  const { result } = await bridge.request('tools/list');
  const names: string[] = result.tools.map((tool: { name: string }) => tool.name);
  for (const id of HEALTHY) expect(names).toContain(`${id}__echo`);
  // Answered before it, not because of it.
  expect((await stateOf('late')).state).toBe('starting');
  expect(await stateOf('dead')).toMatchObject({
    state: 'failed',
    reason: expect.any(String),
    retryAt: expect.any(Number),
  });
  bridge.close();
});

test('neither lists nor calls of the rest are slower beside a dead, a late and a crashing server', async () => {
  let isOver = false;
  const crashes = (async () => {
    let count = 0;
    for (; !isOver; count++) await api(beside, 'crasher').post('/tools/mcp/crashing/crash').send({});
    return count;
  })();
  const both = [alone, beside].map((running) => {
    const bridge = startBridge(running);
    return { bridge, calls: [] as number[], lists: [] as number[] };
  });
  await Promise.all(both.map(({ bridge }) => bridge.initialize()));
  for (const { bridge } of both) await bridge.callTool('good3__echo', { text: 'warm' });
  // In turns, so that whatever else the machine does meets both.
  for (let round = 0; round < 300; round++) {
    for (const { bridge, calls, lists } of both) {
      calls.push(await timed(() => bridge.callTool('good3__echo', { text: 'x' })));
      if (round % 10 === 0) lists.push(await timed(() => bridge.request('tools/list')));
    }
  }
  isOver = true;
  expect(await crashes).toBeGreaterThan(1);
  const [without, within] = both;
  const ratios = {
    calls: median(within?.calls ?? []) / median(without?.calls ?? []),
    lists: median(within?.lists ?? []) / median(without?.lists ?? []),
  };
  expect(ratios.calls).toBeLessThan(1.5);
  expect(ratios.lists).toBeLessThan(2);
  for (const { bridge } of both) bridge.close();
}, 60_000);
