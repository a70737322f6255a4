import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Command } from '@mcpbridge/workspace-api/shell/command.js';
import { startInTime } from '@mcpbridge/workspace-api/shell/start-in-time.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const never = new Promise<never>(() => undefined);

/** A command of which no end is heard; `kill` tells whether it was tried. */
function endless(timeoutMs: number) {
  const kill = jest.fn();
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const bounds = { timeoutMs, keptBytes: 1000, printedBytes: 1000 };
  const command = new Command({ ...streams, ended: never, feed: () => undefined, kill }, bounds, undefined);
  return { command, kill, ...streams };
}

test('whoever waits for a command is answered after its time limit, also when its end is never heard of', async () => {
  const { command, kill, stdout } = endless(5000);
  stdout.write('begun\n');
  await jest.advanceTimersByTimeAsync(5000);
  expect(kill).toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(await command.outcome).toMatchObject({
    stdout: 'begun\n',
    exit_code: 124,
    ended_by: 'timeout',
    error: expect.stringMatching(/^The command was ended after 5 s, its limit; .* may still run\.$/),
  });
  expect(stdout.destroyed).toBe(true);
  expect(jest.getTimerCount()).toBe(0);
});

test('a command that is cancelled is answered, also when its end is never heard of', async () => {
  const { command } = endless(3_600_000);
  command.end('cancelled');
  await jest.advanceTimersByTimeAsync(10_000);
  expect(await command.outcome).toMatchObject({ exit_code: 137, ended_by: 'cancelled' });
  expect(jest.getTimerCount()).toBe(0);
});

test('whoever waits for a command that does not start is told so, and it is ended should it start later', async () => {
  const { command, kill } = endless(3_600_000);
  let start: (command: Command) => void = () => undefined;
  const answer = startInTime(new Promise((resolve) => (start = resolve))).catch((thrown) => thrown);
  await jest.advanceTimersByTimeAsync(30_000);
  expect(await answer).toMatchObject({
    code: 'CALL_TIMEOUT',
    message: expect.stringContaining('had not started after 30 s'),
  });
  start(command);
  await jest.advanceTimersByTimeAsync(0);
  expect(kill).toHaveBeenCalled();
});
