import { useQuery } from '@tanstack/react-query';
import type { ListedTool } from '../calls/use-tool-of';
import { request } from '../net/request';

/** All tools of a session, or those that the model's own search finds for the words. */
export function useToolSearch(words: string, session: string | undefined) {
  return useQuery({
    queryKey: ['tools', 'search', words, session],
    queryFn: async ({ signal }) => {
      const path =
        words === '' ? '/api/tools' : `/api/tools/search?${new URLSearchParams({ q: words, limit: '100' })}`;
      const { tools } = await request<{ tools: ListedTool[] }>(path, {
        signal,
        ...(session ? { session } : {}),
      });
      return tools;
    },
    placeholderData: (before) => before,
    staleTime: 10_000,
  });
}
