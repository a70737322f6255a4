import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import { useQuery } from '@tanstack/react-query';
import { request } from '../net/request';
import { isOver } from './call';
import type { CallStore } from './call-store';

/** One call with its payloads; asked for again when the stream says that it has changed. */
export function useCall(id: string, store: CallStore | undefined) {
  const row = store?.get(id);
  const query = useQuery({
    queryKey: ['call', id, row?.seq ?? 0],
    queryFn: ({ signal }) => request<CallDetails>(`/api/calls/${encodeURIComponent(id)}`, { signal }),
    placeholderData: (before) => (before?.id === id ? before : undefined),
    refetchInterval: ({ state: { data } }) => (data && !isOver(data) && row === undefined ? 1000 : false),
    retry: false,
  });
  return { ...query, row };
}
