import { useQuery } from '@tanstack/react-query';
import { request } from '../net/request';

/** One of `GET /api/mcp-config/status`. */
export interface ServerSummary {
  id: string;
  origin: string;
  state: string;
  reason?: string;
  retryAt?: number;
  faults?: string[];
  tools: number;
  transport?: string;
  isolation?: string;
  description?: string;
  /** Where one signs in there. */
  sign_in?: { state: 'needed' | 'signed_in' | 'unavailable'; grant: string; per: string; reason?: string };
}

export interface ServersStatus {
  config_path: string;
  user_config_path: string;
  bridge_path?: string;
  faults: string[];
  servers: ServerSummary[];
  total_tools: number;
}

export function useServers() {
  return useQuery({
    queryKey: ['servers'],
    queryFn: ({ signal }) => request<ServersStatus>('/api/mcp-config/status', { signal }),
    refetchInterval: 10_000,
  });
}
