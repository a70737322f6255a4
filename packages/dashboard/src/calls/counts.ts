import { request } from '../net/request';
import { type Range, rangeBounds } from './range';

export interface ValueCount {
  value: string;
  calls: number | undefined;
}

interface Counted {
  total: number;
  counts: Record<string, { value: string; count: number }[]>;
  running?: { status: string }[];
}

async function counted(key: string, query: string, range: Range): Promise<Counted> {
  const wanted = new URLSearchParams({ counts: key, limit: '1', ...rangeBounds(range) });
  if (query !== '') wanted.set('q', query);
  return request<Counted>(`/api/calls?${wanted}`);
}

/** How many calls of the filter have which value of a key, over the whole log, most first. */
export async function valueCounts(
  key: string,
  query = '',
  range: Range = { kind: 'live' },
): Promise<ValueCount[]> {
  const { counts } = await counted(key, query, range);
  return (counts[key] ?? []).map(({ value, count }) => ({ value, calls: count }));
}

/** How many there are in each state; those that run or wait are not in the log yet. */
export async function statusCounts(query: string, range: Range): Promise<Map<string, number>> {
  const { counts, running = [] } = await counted('status', query, range);
  const found = new Map((counts.status ?? []).map(({ value, count }) => [value, count]));
  for (const { status } of running) found.set(status, (found.get(status) ?? 0) + 1);
  return found;
}

export async function callCount(query: string, range: Range): Promise<number> {
  return [...(await statusCounts(query, range)).values()].reduce((sum, calls) => sum + calls, 0);
}
