import { useQuery } from '@tanstack/react-query';
import type { Change } from '../calls/difference';
import { request } from '../net/request';

/** Of `GET /api/lock`. */
export interface ChangedTool {
  server: string;
  tool: string;
  differences: Change[];
  /** Somebody has seen it and said no. */
  blocked?: boolean;
}

export function useChangedTools(): ChangedTool[] {
  const { data } = useQuery({
    queryKey: ['lock'],
    queryFn: () => request<{ changed: ChangedTool[] }>('/api/lock'),
    refetchInterval: 10_000,
  });
  return data?.changed ?? [];
}
