import { expect, test } from '@jest/globals';
import { parseDuration } from '@mcpbridge/shared/duration.js';

test('a duration has a unit, or is milliseconds', () => {
  expect(['250', '250ms', '1.5s', '5m', '2h'].map(parseDuration)).toEqual([
    250, 250, 1500, 300_000, 7_200_000,
  ]);
});

test('what is no duration is undefined', () => {
  expect(['', 'soon', '-1s', '5 minutes'].map(parseDuration)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
