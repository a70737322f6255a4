import { afterEach, expect, test } from '@jest/globals';
import { ProcessPlaces } from '@mcpbridge/orchestrator/providers/mcp/pool/process-places.js';
import { verifies } from '../requirements.js';
import { eventually, isAlive } from '../support/processes.js';
import { callTool, TestCaller, type Trace, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
afterEach(() => upstreams.close());

const [a, b] = [new TestCaller('a', { elicitation: {}, 'x-own': {} }), new TestCaller('b')];

/** All that the server's processes wrote down once there are so many of them. */
const started = (trace: Trace, count: number) =>
  eventually(`${count} processes`, () => (trace.pids().length === count ? trace.pids() : undefined));
const running = (trace: Trace) => trace.pids().filter(isAlive).length;

verifies('upstreams.warm', async () => {
  const trace = await upstreams.trace();
  const provider = upstreams.features({ TRACE_FILE: trace.file }, { warm: 2 });
  await provider.refresh();
  const before = await started(trace, 3);
  const pid = Number(await textOf(provider, a, 'pid'));
  expect(before.slice(1)).toContain(pid);
  // It is the session's own: nobody spoke to it before, and it hears what its client can.
  expect(JSON.parse(await textOf(provider, a, 'capabilities'))).toEqual(a.capabilities);
  await started(trace, 4);
  const other = Number(await textOf(provider, b, 'pid'));
  expect(other).not.toBe(pid);
  expect(await textOf(provider, b, 'counter')).toBe('1');
});

test('processes that are kept ready stay within the cap over all servers, and make room for whoever needs a place', async () => {
  const [places, trace] = [new ProcessPlaces(3), await upstreams.trace()];
  const warm = upstreams.features({ TRACE_FILE: trace.file }, { warm: 5, places });
  await warm.refresh();
  await started(trace, 3);
  const other = upstreams.features({}, { places });
  const controller = new AbortController();
  const busy = callTool(other, a, 'hang', { signal: controller.signal }).catch(() => {});
  await eventually('one has made room', () => running(trace) === 2);
  expect(await textOf(other, b, 'echo', { text: 'and another' })).toBe('and another');
  expect(running(trace)).toBe(1);
  controller.abort();
  await busy;
});

test('with those that are kept ready a server has no more connections than it may have', async () => {
  const trace = await upstreams.trace();
  const provider = upstreams.features({ TRACE_FILE: trace.file }, { warm: 5, maxConnections: 3 });
  await provider.refresh();
  await textOf(provider, a, 'echo');
  await textOf(provider, b, 'echo');
  expect(running(trace)).toBe(3);
});

test('a stop ends those that are kept ready, and a start brings them back', async () => {
  const trace = await upstreams.trace();
  const provider = upstreams.features({ TRACE_FILE: trace.file }, { warm: 2 });
  await provider.refresh();
  await started(trace, 3);
  await provider.stop();
  expect(running(trace)).toBe(0);
  await provider.start();
  await started(trace, 6);
  await provider.retire();
  expect(running(trace)).toBe(0);
});

test('one that ends by itself is replaced after the next connection, and hurts nobody', async () => {
  const trace = await upstreams.trace();
  const provider = upstreams.features({ TRACE_FILE: trace.file }, { warm: 1 });
  await provider.refresh();
  const [, spare = 0] = await started(trace, 2);
  process.kill(spare, 'SIGKILL');
  await eventually('it is gone', () => !isAlive(spare));
  expect(provider.health).toEqual({ state: 'ready' });
  expect(await textOf(provider, a, 'echo', { text: 'here' })).toBe('here');
  await started(trace, 4);
});

test('of a server that cannot be started none is kept', async () => {
  const trace = await upstreams.trace();
  const provider = upstreams.features({ TRACE_FILE: trace.file, FAIL_START: '1' }, { warm: 3 });
  await expect(provider.refresh()).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
  expect(trace.pids().length).toBeLessThanOrEqual(1);
});

test('the one connection of a shared server that is to be warm stays open without use', async () => {
  const trace = await upstreams.trace();
  const options = { isolation: 'shared', idleTimeoutMs: 50 } as const;
  const provider = upstreams.features(
    { TRACE_FILE: trace.file, NEVER_CHANGES: '1' },
    { ...options, warm: 1 },
  );
  const other = upstreams.features({ NEVER_CHANGES: '1' }, options);
  await provider.refresh();
  const cold = Number(await textOf(other, a, 'pid'));
  await eventually('an idle one is closed', () => !isAlive(cold));
  expect(running(trace)).toBe(1);
});
