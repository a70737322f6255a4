import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Breaker } from '@mcpbridge/orchestrator/providers/mcp/health/breaker.js';
import { AppError } from '@mcpbridge/shared/errors.js';

let attempts = 0;
beforeEach(() => {
  attempts = 0;
  jest.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  jest.useRealTimers();
});

const failing = async () => {
  attempts += 1;
  throw new AppError('PROVIDER_UNAVAILABLE', 'Server "x" is not there.');
};
const working = async () => {
  attempts += 1;
  return 'connected';
};
const outcomeOf = (breaker: Breaker, attempt: () => Promise<unknown>) =>
  breaker.run(attempt, new AbortController().signal).catch((error) => error.message);

test('the pause after a failure doubles from one second to thirty', async () => {
  const breaker = new Breaker();
  const pauses: number[] = [];
  for (let failure = 0; failure < 7; failure++) {
    await outcomeOf(breaker, failing);
    const pause = (breaker.failure?.retryAt ?? 0) - Date.now();
    pauses.push(pause / 1000);
    jest.setSystemTime(Date.now() + pause - 1);
    expect(await outcomeOf(breaker, failing)).toBe('Server "x" is not there. It is tried again in 1 s.');
    jest.setSystemTime(Date.now() + 1);
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
  expect(attempts).toBe(7);
});

test('words without a full stop get one before the next sentence', async () => {
  const breaker = new Breaker();
  const refusing = async () => {
    throw new AppError('PROVIDER_UNAVAILABLE', 'Server "x" refused to open a connection: not today');
  };
  await outcomeOf(breaker, refusing);
  expect(await outcomeOf(breaker, refusing)).toBe(
    'Server "x" refused to open a connection: not today. It is tried again in 1 s.',
  );
});

test('a success begins the count anew', async () => {
  const breaker = new Breaker();
  await outcomeOf(breaker, failing);
  jest.setSystemTime(Date.now() + 1000);
  expect(await outcomeOf(breaker, working)).toBe('connected');
  expect(breaker.failure).toBeUndefined();
  await outcomeOf(breaker, failing);
  expect(breaker.failure?.retryAt).toBe(Date.now() + 1000);
});

test('attempts side by side that fail together count once', async () => {
  const breaker = new Breaker();
  await Promise.all(Array.from({ length: 20 }, () => outcomeOf(breaker, failing)));
  expect(breaker.failure?.retryAt).toBe(Date.now() + 1000);
});

test('after the pause one attempt is made; the others wait for what becomes of it', async () => {
  const breaker = new Breaker();
  await outcomeOf(breaker, failing);
  jest.setSystemTime(Date.now() + 1000);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(breaker, failing)));
  expect(attempts).toBe(2);
  expect(outcomes[0]).toBe('Server "x" is not there.');
  expect(new Set(outcomes.slice(1))).toEqual(new Set(['Server "x" is not there. It is tried again in 2 s.']));
});

test('a session that ends does not wait for the attempt of another', async () => {
  const breaker = new Breaker();
  await outcomeOf(breaker, failing);
  jest.setSystemTime(Date.now() + 1000);
  void outcomeOf(breaker, () => new Promise(() => {}));
  const controller = new AbortController();
  const waiting = breaker.run(working, controller.signal).catch((error) => error.code);
  controller.abort();
  expect(await waiting).toBe('CALL_CANCELLED');
  expect(attempts).toBe(1);
});

test('an attempt that its caller gave up says nothing of the server', async () => {
  const breaker = new Breaker();
  const cancelled = async () => {
    throw new AppError('CALL_CANCELLED', 'The session ended.');
  };
  expect(await outcomeOf(breaker, cancelled)).toBe('The session ended.');
  expect(breaker.failure).toBeUndefined();
});
