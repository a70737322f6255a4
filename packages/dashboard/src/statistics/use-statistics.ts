import type { CallStatistics } from '@mcpbridge/shared/call-statistics.js';
import { useQuery } from '@tanstack/react-query';
import { type Range, rangeBounds } from '../calls/range';
import { request } from '../net/request';

interface StatisticsOptions {
  by: string;
  query?: string;
  range: Range;
  /** Milliseconds between two looks; absent: one look. */
  every?: number;
  limit?: number;
}

/** Sums over the whole log, by the orchestrator's histograms; what is shown stays until the next answer. */
export function useStatistics({ by, query = '', range, every, limit }: StatisticsOptions) {
  return useQuery({
    queryKey: ['stats', by, query, range, limit],
    queryFn: ({ signal }) => {
      const wanted = new URLSearchParams({ by, ...rangeBounds(range) });
      if (query !== '') wanted.set('q', query);
      if (limit !== undefined) wanted.set('limit', String(limit));
      return request<CallStatistics>(`/api/stats?${wanted}`, { signal });
    },
    refetchInterval: every ?? false,
    placeholderData: (before) => before,
  });
}
