import { afterEach, expect, test } from '@jest/globals';
import { callTool, TestCaller, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
const caller = new TestCaller('session');
const KIB = 1024;
afterEach(() => upstreams.close());

test('noise on stdout is kept with stderr and harms no call', async () => {
  const provider = upstreams.features();
  expect(await textOf(provider, caller, 'noise')).toBe('after the noise');
  expect(provider.stderr).toEqual([
    'features server is up',
    'this line is not JSON',
    '"nor is this an object"',
  ]);
});

test('stderr is kept to its last 200 lines', async () => {
  const script = `
    for (let line = 1; line <= 500; line++) process.stderr.write('line ' + line + '\\n');
    process.exitCode = 1;
  `;
  const transport = { kind: 'stdio' as const, command: process.execPath, args: ['-e', script], env: {} };
  const provider = upstreams.provider({ id: 'chatty', transport, isolation: 'session' });
  await expect(provider.refresh()).rejects.toThrow('line 498 | line 499 | line 500');
  expect(provider.stderr).toHaveLength(200);
  expect(provider.stderr[0]).toBe('line 301');
});

test('a character that is split over two reads stays whole', async () => {
  const provider = upstreams.features();
  expect(await textOf(provider, caller, 'emoji')).toBe('a 🦊 b');
});

test('a message over the limit fails its call alone; the connection and the other calls go on', async () => {
  const provider = upstreams.features({}, { maxMessageBytes: 64 * KIB });
  expect(await textOf(provider, caller, 'counter')).toBe('1');
  const slow = textOf(provider, caller, 'slow', { ms: 100 });
  await expect(callTool(provider, caller, 'big', { args: { bytes: 100 * KIB } })).rejects.toMatchObject({
    code: 'RESULT_TOO_LARGE',
    retryable: false,
    message: 'Server "features" sent a message of more than 65536 bytes.',
  });
  expect(await slow).toBe('slept');
  expect(await textOf(provider, caller, 'counter')).toBe('2');
});

test('a message over the limit whose id comes last fails the only call that waits', async () => {
  const provider = upstreams.features({}, { maxMessageBytes: 64 * KIB });
  const call = callTool(provider, caller, 'big', { args: { bytes: 100 * KIB, idLast: true } });
  await expect(call).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
});

test('ten megabytes arrive whole', async () => {
  const provider = upstreams.features();
  const bytes = 10 * KIB * KIB;
  expect(await textOf(provider, caller, 'big', { bytes })).toHaveLength(bytes);
});

test('ten megabytes go out whole, with small calls beside them', async () => {
  const provider = upstreams.features();
  const text = 'ü🦊'.repeat(2 * KIB * KIB);
  const [large, small] = await Promise.all([
    textOf(provider, caller, 'echo', { text }),
    textOf(provider, caller, 'echo', { text: 'small' }),
  ]);
  expect(large === text).toBe(true);
  expect(small).toBe('small');
});
