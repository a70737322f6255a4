import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { AppError } from '@mcpbridge/shared/errors.js';
import { SilentProxy } from '../faults/support/silent-proxy.js';
import { eventually, fixture, isAlive } from '../support/processes.js';
import { callTool, TestCaller, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
const caller = new TestCaller('a');
afterEach(() => upstreams.close());

/** As the pipeline aborts a call whose time is over. */
function deadline(): { signal: AbortSignal; passes(): void } {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    passes: () => controller.abort(new AppError('CALL_TIMEOUT', 'It gave no answer in time.')),
  };
}

describe('a server that stops answering', () => {
  test('is found out after the deadline of a call, its process ended, its state told; other sessions keep theirs', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    await provider.refresh();
    const other = new TestCaller('b');
    const counted = await textOf(provider, other, 'counter');
    const pid = Number(await textOf(provider, caller, 'pid'));
    const { signal, passes } = deadline();
    const call = callTool(provider, caller, 'hang', { signal });
    const failed = expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    await trace.line(/^started hang/);
    process.kill(pid, 'SIGSTOP');
    passes();
    await failed;
    await eventually('the stopped process is gone', () => !isAlive(pid));
    expect(provider.health).toEqual({
      state: 'degraded',
      reason: 'Server "features" answered nothing for 3 s; its connection was given up.',
    });
    expect(await textOf(provider, other, 'counter')).toBe(String(Number(counted) + 1));
    expect(Number(await textOf(provider, caller, 'pid'))).not.toBe(pid);
  });

  test('but not one that is merely late with one tool', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    await provider.refresh();
    const pid = await textOf(provider, caller, 'pid');
    const { signal, passes } = deadline();
    const call = callTool(provider, caller, 'hang', { signal });
    const failed = expect(call).rejects.toMatchObject({ code: 'CALL_TIMEOUT' });
    await trace.line(/^started hang/);
    passes();
    await failed;
    expect(provider.health).toEqual({ state: 'ready' });
    expect(await textOf(provider, caller, 'pid')).toBe(pid);
  });

  test('calls that still run on its connection are not taken from it', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file }, { isolation: 'shared' });
    const pid = Number(await textOf(provider, caller, 'pid'));
    const { signal, passes } = deadline();
    const late = callTool(provider, caller, 'hang', { signal }).catch((error) => error);
    const running = callTool(provider, new TestCaller('b'), 'slow', { args: { ms: 4500 } });
    await trace.line(/^started slow/);
    process.kill(pid, 'SIGSTOP');
    passes();
    expect(await late).toMatchObject({ code: 'CALL_TIMEOUT' });
    await eventually('its state is told', () => provider.health.state === 'degraded');
    process.kill(pid, 'SIGCONT');
    expect(await running).toMatchObject({ content: [{ text: 'slept' }] });
    await eventually('then its process is gone', () => !isAlive(pid));
  });
});

describe('a connection over a network that was idle for long', () => {
  test.each(['mcp', 'sse'])(
    'is asked before its use; a dead one (%s) is replaced, and the call never knows',
    async (path) => {
      const server = await upstreams.httpServer();
      const proxy = new SilentProxy(Number(server.port));
      const port = await proxy.open();
      const provider = upstreams.remote(`http://127.0.0.1:${port}/${path}`, {}, { trustedMs: 0 });
      expect(await textOf(provider, caller, 'counter')).toBe('1');
      expect(await textOf(provider, caller, 'counter')).toBe('2');
      proxy.silence();
      expect(await textOf(provider, caller, 'counter')).toBe('1');
      await provider.close();
      proxy.close();
    },
  );
});

describe('a server that is lost', () => {
  test('while nobody calls it is started again by itself, as it may have other tools then', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    await provider.refresh();
    process.kill(trace.pids()[0] ?? 0, 'SIGKILL');
    await eventually('its state is told', () => provider.health.state === 'degraded');
    expect(provider.health).toMatchObject({
      reason: expect.stringContaining('was ended by SIGKILL'),
      retryAt: expect.any(Number),
    });
    await eventually('it runs again', () => trace.pids().length === 2);
  });

  test('at its start is tried again by itself, and who lists tools hears of it', async () => {
    const file = await upstreams.file('server.mjs');
    const transport = { kind: 'stdio' as const, command: process.execPath, args: [file], env: {} };
    const provider = upstreams.provider({ id: 'later', transport, isolation: 'session' });
    let heard = 0;
    provider.onListChanged(() => heard++);
    await expect(provider.refresh()).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
    expect(provider.health).toMatchObject({ state: 'failed', retryAt: expect.any(Number) });
    writeFileSync(file, `await import(${JSON.stringify(fixture('bare-server.mjs'))});`);
    await eventually('it is ready', () => provider.health.state === 'ready');
    expect(provider.listed?.tools.map(({ name }) => name)).toContain('echo');
    await eventually('the change is told', () => heard === 1);
  });

  test('and stopped is left in peace', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file, FAIL_START: '1' });
    await expect(provider.refresh()).rejects.toThrow();
    expect(provider.health).toHaveProperty('retryAt');
    await provider.stop();
    expect(provider.health).toEqual({ state: 'stopped' });
  });
});
