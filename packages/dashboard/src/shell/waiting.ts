import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followHouse, onHouseEvent } from '../net/house-events';
import { request } from '../net/request';

/** Of `GET /api/proposals`. */
export interface Proposal {
  id: string;
  kind: 'call' | 'question';
  callId?: string;
  principal: string;
  sessionId: string;
  client?: string;
  server: string;
  tool: string;
  arguments: Record<string, unknown>;
  createdAt: string;
  expiresAt: string;
}

/** What waits for a person; asked for again as soon as the stream says that it is another. */
export function useWaiting(): Proposal[] {
  const { data } = useQuery({
    queryKey: ['proposals'],
    queryFn: () => request<{ proposals: Proposal[] }>('/api/proposals'),
    refetchInterval: 10_000,
  });
  return data?.proposals ?? [];
}

/** Keeps what was asked for in step with what the stream says. */
export function useHouseNews(): void {
  const queries = useQueryClient();
  useEffect(() => followHouse(() => void queries.invalidateQueries()), [queries]);
  useEffect(
    () =>
      onHouseEvent((event) => {
        const again = (...keys: string[]) => {
          for (const key of keys) void queries.invalidateQueries({ queryKey: [key] });
        };
        if (event.type === 'proposal') again('proposals');
        else if (event.type === 'server') again('servers', 'server', 'lock');
        else if (event.type === 'session') again('sessions');
        else if (event.type === 'catalog') again('tools', 'servers', 'lock');
      }),
    [queries],
  );
}
