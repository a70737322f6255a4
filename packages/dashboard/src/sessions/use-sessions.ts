import { useQuery } from '@tanstack/react-query';
import { request } from '../net/request';
import type { Policy } from '../tools/patterns';

/** One of `GET /api/sessions`. */
export interface SessionInfo {
  id: string;
  owner: string;
  /** Name and version of the client, and the folder it works in, as far as these are known. */
  client?: string;
  project?: string;
  lifetime: string;
  createdAt: string;
  lastUsedAt: string;
  parent?: string;
  expiresAt?: string;
  endedAt?: string;
  policy?: Policy;
}

export function useSessions(ended = false) {
  return useQuery({
    queryKey: ['sessions', ended ? 'ended' : 'open'],
    queryFn: async () => {
      const { sessions } = await request<{ sessions: SessionInfo[] }>(
        `/api/sessions${ended ? '?ended=true' : ''}`,
      );
      return sessions;
    },
    refetchInterval: 5000,
  });
}
