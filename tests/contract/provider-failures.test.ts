import { afterEach, describe, expect, test } from '@jest/globals';
import { isAlive } from '../support/processes.js';
import { callTool, TestCaller, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
const caller = new TestCaller('a');
afterEach(() => upstreams.close());

describe('a server that crashes', () => {
  test('in mid-call loses the calls with server, tool, exit code and last words; the next call finds a new one', async () => {
    const provider = upstreams.features();
    expect(await textOf(provider, caller, 'counter')).toBe('1');
    const calls = [callTool(provider, caller, 'hang'), callTool(provider, caller, 'crash')];
    const [hang, crash] = await Promise.all(calls.map((call) => call.catch((error) => error)));
    expect(crash).toMatchObject({
      code: 'CONNECTION_LOST',
      retryable: false,
      message: expect.stringMatching(
        /^"crash" was cut off: Server "features" ended with exit code 7\..*about to crash$/,
      ),
      details: { exitCode: 7 },
    });
    expect(hang).toMatchObject({
      code: 'CONNECTION_LOST',
      message: expect.stringMatching(/^"hang" was cut off/),
    });
    expect(await textOf(provider, caller, 'counter')).toBe('1');
  });

  test('loses no call of another session', async () => {
    const provider = upstreams.features();
    const other = textOf(provider, new TestCaller('b'), 'slow', { ms: 500 });
    await expect(callTool(provider, caller, 'crash')).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(await other).toBe('slept');
  });

  test('a call that only reads is made once more', async () => {
    const [trace, marker] = [await upstreams.trace(), await upstreams.file()];
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    await provider.refresh();
    expect(await textOf(provider, caller, 'crash_once', { marker })).toBe('survived');
    expect(trace.matching(/^started crash_once/)).toHaveLength(2);
  });

  test('any other call is not', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    await provider.refresh();
    await expect(callTool(provider, caller, 'crash')).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(trace.matching(/^started crash/)).toHaveLength(1);
  });

  test('the session hears again what it subscribed to, and keeps its log level', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    const { signal } = new AbortController();
    await provider.request(caller, 'resources/subscribe', { uri: 'test://a' }, { signal });
    await provider.request(caller, 'logging/setLevel', { level: 'error' }, { signal });
    await expect(callTool(provider, caller, 'crash')).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(await textOf(provider, caller, 'level')).toBe('error');
    await textOf(provider, caller, 'touch', { uri: 'test://a' });
    expect(caller.told.at(-1)).toMatchObject({ method: 'notifications/resources/updated' });
    expect(trace.matching(/^subscribed/)).toHaveLength(2);
  });
});

describe('a server that cannot be started', () => {
  test('is not tried at every call: others fail at once with the same reason and the time of the next try', async () => {
    const trace = await upstreams.trace();
    const marker = await upstreams.file();
    const script = `require('fs').appendFileSync(${JSON.stringify(trace.file)}, 'try\\n'); process.exit(3)`;
    const transport = {
      kind: 'stdio' as const,
      command: process.execPath,
      args: ['-e', script, marker],
      env: {},
    };
    const provider = upstreams.provider({ id: 'dead', transport, isolation: 'session' });
    const first = await textOf(provider, caller, 'echo').catch((error) => error);
    const second = await textOf(provider, new TestCaller('b'), 'echo').catch((error) => error);
    expect(first).toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      message: 'Server "dead" ended with exit code 3.',
    });
    expect(second.code).toBe('PROVIDER_UNAVAILABLE');
    expect(second.message).toMatch(/^Server "dead" ended with exit code 3\. It is tried again in 1 s\.$/);
    expect(second.details).toEqual({ retryAt: first.details.retryAt });
    expect(provider.health).toEqual({
      state: 'failed',
      reason: first.message,
      retryAt: first.details.retryAt,
    });
    expect(trace.lines()).toEqual(['try']);
  });

  test('is tried again after the pause, which a start by hand does not wait for', async () => {
    const transport = { kind: 'stdio' as const, command: 'no-such-command', args: [], env: {} };
    const provider = upstreams.provider({ id: 'lost', transport, isolation: 'session' });
    await expect(provider.refresh()).rejects.toThrow(/PATH\?$/);
    await expect(provider.refresh()).rejects.toThrow(/PATH\? It is tried again in 1 s\.$/);
    await expect(provider.start()).rejects.toThrow(/PATH\?$/);
  });
});

describe('a server that is stopped', () => {
  test('ends its processes, refuses calls with the reason, and can be started again', async () => {
    const trace = await upstreams.trace();
    const provider = upstreams.features({ TRACE_FILE: trace.file });
    await provider.refresh();
    await textOf(provider, caller, 'echo');
    const running = callTool(provider, caller, 'hang').catch((error) => error);
    await trace.line(/^started hang/);
    await provider.stop();
    expect(await running).toMatchObject({ code: 'CALL_CANCELLED' });
    expect(trace.pids().filter(isAlive)).toEqual([]);
    expect(provider.health).toEqual({ state: 'stopped' });
    await expect(textOf(provider, caller, 'echo')).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      retryable: false,
      message: 'Server "features" is stopped.',
    });
    await expect(provider.refresh()).rejects.toThrow('Server "features" is stopped.');
    await provider.start();
    expect(provider.health).toEqual({ state: 'ready' });
    expect(await textOf(provider, caller, 'echo', { text: 'again' })).toBe('again');
  });
});

test('a modern server that is slow to start is still spoken to in its era', async () => {
  const patient = new TestCaller('patient');
  patient.era = 'modern';
  const provider = upstreams.features({ ERA: 'modern', SLOW_START: '3300' });
  expect(await textOf(provider, patient, 'echo', { text: 'at last' })).toBe('at last');
  expect(provider.about?.era).toBe('modern');
});
