import { expect, test } from '@jest/globals';
import { narrower } from '@mcpbridge/agent/prefixes.js';
import { readPlan } from '@mcpbridge/agent/strategies/plan-text.js';
import { routeOf } from '@mcpbridge/agent/strategies/route.js';

test.each([
  ['What is the weather in Bern?', 'react'],
  ['Compare the weather in Bern and Basel.', 'parallel'],
  ['Tell me the size of a, b, c and d.', 'parallel'],
  ['First read the file, then count its lines, and finally write them down.', 'plan'],
  ['Do this:\n1. read\n2. count\n3. write', 'plan'],
  ['Make a plan and carry it out.', 'plan'],
])('the question %j is for %s', (question, strategy) => {
  const route = routeOf(question);
  expect(route.strategy).toBe(strategy);
  expect(route.because).toMatch(/^the question /);
});

test('a plan gets ids that are new in its run', () => {
  const text =
    'Here:\n```json\n{"steps": [{"id": 1, "task": "a"}, {"id": "b c", "task": "b", "after": [1]}]}\n```';
  expect(readPlan(text, 2)).toEqual({
    faults: [],
    steps: [
      { id: '2.1', task: 'a', after: [] },
      { id: '2.b_c', task: 'b', after: ['2.1'] },
    ],
  });
});

test.each([
  ['no plan', 'it is no JSON'],
  ['{"steps": []}', 'must NOT have fewer than 1 items'],
  ['{"steps": [{"id": 1, "task": "a"}, {"id": 1, "task": "b"}]}', 'two steps have the same id'],
  ['{"steps": [{"id": 1, "task": "a", "after": [2]}]}', 'which is no step'],
  ['{"steps": [{"id": 1, "task": "a", "after": [2]}, {"id": 2, "task": "b", "after": [1]}]}', 'in a circle'],
])('a plan that cannot be carried out is told: %j', (text, fault) => {
  expect(readPlan(text, 1).faults.join()).toContain(fault);
});

test('two lists of prefixes together cover what both cover', () => {
  expect(narrower(undefined, undefined)).toBeUndefined();
  expect(narrower(['a__'], undefined)).toEqual(['a__']);
  expect(narrower(['a__', 'b__x'], ['a__read', 'b__', 'c__'])).toEqual(['a__read', 'b__x']);
  expect(narrower(['a__'], ['b__'])).toEqual([]);
});
