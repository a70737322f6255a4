import { Unanswered } from '@mcpbridge/orchestrator/providers/mcp/peer/unanswered.js';
import { Underway } from '@mcpbridge/shared/underway.js';

function three() {
  const items = ['a', 'b', 'c'].map((name) => ({ name, place: 0 }));
  const underway = new Underway<{ name: string; place: number }>();
  for (const item of items) underway.add(item);
  return { underway, items };
}

const names = (underway: Iterable<{ name: string }>) => [...underway].map(({ name }) => name).sort();

test.each([
  ['the first', 0, ['b', 'c']],
  ['one between', 1, ['a', 'c']],
  ['the last', 2, ['a', 'b']],
])('when %s leaves, the others stay', (_, index, left) => {
  const { underway, items } = three();
  underway.delete(items[index] as (typeof items)[number]);
  expect(names(underway)).toEqual(left);
  expect(underway.size).toBe(2);
});

test('one that has left and one that never came take nobody with them', () => {
  const { underway, items } = three();
  const [first] = items as [(typeof items)[number]];
  underway.delete(first);
  underway.delete(first);
  underway.delete({ name: 'stranger', place: 1 });
  expect(names(underway)).toEqual(['b', 'c']);
});

test('all may leave while they are gone through', () => {
  const { underway } = three();
  for (const item of underway) underway.delete(item);
  expect(underway.size).toBe(0);
});

test('ten thousand requests that wait at once are each found by their own number, and a late answer by none', () => {
  const unanswered = new Unanswered<{ id: number }>();
  const requests = Array.from({ length: 10_000 }, () => {
    const request = { id: unanswered.nextId() };
    unanswered.add(request);
    return request;
  });
  expect(new Set(requests.map(({ id }) => id)).size).toBe(10_000);
  for (const request of requests) expect(unanswered.get(request.id)).toBe(request);
  for (const request of requests) unanswered.delete(request);
  for (const { id } of requests) expect(unanswered.get(id)).toBeUndefined();
  expect(unanswered.size).toBe(0);
});

test('a request that waits for long keeps its number while thousands come and go', () => {
  const unanswered = new Unanswered<{ id: number }>();
  const slow = { id: unanswered.nextId() };
  unanswered.add(slow);
  for (let count = 0; count < 5000; count++) {
    const quick = { id: unanswered.nextId() };
    unanswered.add(quick);
    expect(unanswered.get(quick.id)).toBe(quick);
    unanswered.delete(quick);
  }
  expect(unanswered.get(slow.id)).toBe(slow);
  expect([...unanswered]).toEqual([slow]);
});

test('what is no number of a request is none', () => {
  const unanswered = new Unanswered<{ id: number }>();
  unanswered.add({ id: unanswered.nextId() });
  for (const id of ['1', null, undefined, -1, 1.5, Number.NaN, 65])
    expect(unanswered.get(id)).toBeUndefined();
});
