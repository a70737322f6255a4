import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, isAlive } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
beforeEach(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({
    servers: { other: featuresServer(), features: featuresServer({ TRACE_FILE: trace.file }) },
  });
});
afterEach(() => running.stop());

const call = async (tool: string, args: object = {}, server = 'features') =>
  (await api(running, 's').post(`/tools/mcp/${server}/${tool}`).send(args)).body;
const act = async (action: string, id = 'features') => api(running).post(`/api/servers/${id}/${action}`);

describe('one server', () => {
  test('is stopped with all its processes and calls, and started again; another one is not touched', async () => {
    expect((await call('counter', {}, 'other')).result).toBe('1');
    const hanging = call('hang');
    await trace.saw('started hang');
    const stopped = await act('stop');
    expect([stopped.status, stopped.body]).toMatchObject([200, { id: 'features', state: 'stopped' }]);
    expect((await hanging).error.code).toBe('CALL_CANCELLED');
    expect(trace.pids.filter(isAlive)).toEqual([]);
    expect((await call('echo')).error).toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      message: 'Server "features" is stopped.',
      retryable: false,
    });
    expect((await call('counter', {}, 'other')).result).toBe('2');
    const started = await act('start');
    expect(started.body).toMatchObject({ id: 'features', state: 'ready', tools: expect.any(Number) });
    expect((await call('echo', { text: 'again' })).result).toBe('again');
  });

  test('is restarted: its processes are others then', async () => {
    await call('echo');
    const before = trace.pids;
    expect((await act('restart')).body.state).toBe('ready');
    expect(before.filter(isAlive)).toEqual([]);
    expect((await call('counter')).result).toBe('1');
  });

  test('that cannot be started says why', async () => {
    const servers = { lost: { command: 'no-such-program-here' } };
    const other = await startOrchestrator({ servers });
    const { status, body } = await api(other).post('/api/servers/lost/start');
    expect([status, body.state]).toEqual([200, 'failed']);
    expect(body.reason).toContain('no-such-program-here');
    await other.stop();
  });

  test('shows what its processes wrote', async () => {
    await call('noise');
    const { body } = await api(running).get('/api/servers/features/logs');
    expect(body.id).toBe('features');
    expect(body.lines).toEqual(expect.arrayContaining(['features server is up', 'this line is not JSON']));
  });

  test('that does not exist is answered with the nearest name', async () => {
    for (const { status, body } of [
      await act('stop', 'feature'),
      await api(running).get('/api/servers/feature/logs'),
    ]) {
      expect([status, body.error.code]).toEqual([404, 'UNKNOWN_SERVER']);
      expect(body.error.message).toContain('features');
    }
  });
});

test('a change of an entry lets its running calls finish on the old process, which then ends', async () => {
  const slow = call('slow', { ms: 1500 });
  await trace.saw('started slow');
  const old = trace.pids;
  const second = await Trace.make();
  const mcpServers = { other: featuresServer(), features: featuresServer({ TRACE_FILE: second.file }) };
  await api(running).post('/api/mcp-config').send({ mcpServers });
  await second.saw('pid');
  expect((await call('echo', { text: 'by the new one' })).result).toBe('by the new one');
  expect(second.count('started echo')).toBe(1);
  expect((await slow).result).toBe('slept');
  await eventually('the old processes are gone', () => !old.some(isAlive));
});
