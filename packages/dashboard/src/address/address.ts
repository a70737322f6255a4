import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

/** What the address says: every screen is a link. Unknown keys are kept; defaults are left out. */
export type Search = Record<string, string>;

export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text));

export function stringifySearch(search: Record<string, unknown>): string {
  const kept = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
  // `:` `,` `*` and `/` are what filters are made of, and stand in a query as they are.
  const readable = text
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',')
    .replaceAll('%2F', '/')
    .replaceAll('%2A', '*');
  return readable === '' ? '' : `?${readable}`;
}

export interface Address {
  path: string;
  search: Search;
  /** Changes some of it; `undefined` takes a key away. Typing replaces the history entry, choosing adds one. */
  set(change: Record<string, string | undefined>, how?: { replace?: boolean }): void;
  go(to: string, search?: Record<string, string>): void;
}

export function useAddress(): Address {
  const { path, text } = useRouterState({
    select: ({ location }) => ({ path: location.pathname, text: location.searchStr }),
    structuralSharing: true,
  });
  const navigate = useNavigate();
  const search = useMemo(() => parseSearch(text), [text]);
  const set = useCallback<Address['set']>(
    (change, how = {}) => {
      const { pathname, search: now } = window.location;
      void navigate({
        to: pathname,
        search: { ...parseSearch(now), ...change },
        replace: how.replace ?? false,
        resetScroll: false,
      } as never);
    },
    [navigate],
  );
  const go = useCallback<Address['go']>(
    (to, next = {}) => void navigate({ to, search: next } as never),
    [navigate],
  );
  return useMemo(() => ({ path, search, set, go }), [path, search, set, go]);
}

/** A link to Live with a filter, for every number that counts something. */
export function liveLink(query: string, more: Record<string, string> = {}): string {
  return `/${stringifySearch({ q: query, ...more })}`;
}
