import { useSyncExternalStore } from 'react';
import { parseSearch } from '../address/address';
import { CallFeed } from './call-feed';
import { readableFilter } from './filter-words';
import { readRange } from './range';

/** One feed at a time: it stays while other views are open, so that its list is found again as it was left. */
let current: { key: string; feed: CallFeed } | undefined;
const listeners = new Set<() => void>();

/** The feed of this filter; the one of another is closed. */
export function feedFor(query: string, range: string | undefined): CallFeed {
  const key = `${query}\n${range ?? ''}`;
  if (current?.key === key) return current.feed;
  current?.feed.close();
  current = { key, feed: new CallFeed(query, readRange(range)) };
  for (const listener of listeners) queueMicrotask(listener);
  return current.feed;
}

/** What the address asks for, for whoever needs a feed before a view does. */
function atFirst(): [string, string | undefined] {
  const { pathname, search } = window.location;
  if (pathname !== '/' && pathname !== '/calls') return ['', undefined];
  const { q = '', t } = parseSearch(search);
  return [readableFilter(q), t];
}

/** Whatever feed there is: the stream carries the news of the whole house. */
export function useFeed(): CallFeed {
  const feed = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current?.feed ?? feedFor(...atFirst()),
  );
  useSyncExternalStore(feed.store.subscribe, feed.store.snapshot);
  return feed;
}
