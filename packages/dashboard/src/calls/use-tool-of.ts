import type { CallRow } from '@mcpbridge/shared/call-row.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { useQuery } from '@tanstack/react-query';
import { request } from '../net/request';

/** An entry of `GET /api/tools`. */
export interface ListedTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: Record<string, unknown>;
  type: string;
  server: string;
  [field: string]: unknown;
}

/** The tool of a call as it is listed today; undefined while it is asked for, and where it is gone. */
export function useToolOf({
  server,
  tool,
  session,
  kind = 'mcp',
}: Pick<CallRow, 'server' | 'tool' | 'session' | 'kind'>) {
  const { data } = useQuery({
    queryKey: ['tools', kind === 'mcp' ? server : '', session],
    queryFn: () => {
      const where = kind === 'mcp' ? `?server=${encodeURIComponent(server)}` : '';
      return request<{ tools: ListedTool[] }>(`/api/tools${where}`, { session }).catch(() =>
        // Its session is over: then as the house sees it.
        request<{ tools: ListedTool[] }>(`/api/tools${where}`),
      );
    },
    staleTime: 30_000,
    retry: false,
  });
  return data?.tools.find(
    (listed) =>
      listed.name === tool || listed.name === `${server}__${tool}` || listed.name.endsWith(`__${tool}`),
  );
}
