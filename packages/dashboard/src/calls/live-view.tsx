import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useAddress } from '../address/address';
import { useTitle } from '../shell/title';
import { Failure, Loading } from '../ui/states';
import { CallList } from './call-list';
import { CallPanel } from './call-panel';
import { CompareDialog } from './compare';
import { copyEntries } from './copy-entries';
import { feedFor, useFeed } from './feeds';
import { FilterBar } from './filter-bar';
import { readableFilter, withTerm } from './filter-words';
import { GroupTable } from './group-table';
import { ListeningNote, NoMatch } from './live-empty';
import { MissingRow } from './missing-row';
import { readRange } from './range';
import { RateStrip } from './rate-strip';
import { Splitter, usePanelShare } from './splitter';
import { StatusCounts } from './status-counts';
import { ToolBar } from './tool-bar';

/** What the agents do now, and whether anything is wrong. */
export function LiveView() {
  const { path, search: now, set } = useAddress();
  // On the way to another view the address is that one's already.
  const last = useRef(now);
  if (path === '/' || path === '/calls') last.current = now;
  const { q = '', t, group, cols, call: open } = last.current;
  const query = readableFilter(q);
  feedFor(query, t);
  const feed = useFeed();
  const [marked, setMarked] = useState<string[]>([]);
  const [compared, setCompared] = useState<[string, string]>();
  const [share, setShare] = usePanelShare();
  const range = useMemo(() => readRange(t), [t]);
  useTitle(feed.isLive ? 'Live' : 'Calls');

  const setQuery = useCallback(
    (next: string, how: { replace: boolean }) => set({ q: next || undefined, call: undefined }, how),
    [set],
  );
  const openCall = useCallback(
    (id: string | undefined) =>
      set(
        { call: id, tab: undefined },
        { replace: id !== undefined && window.location.search.includes('call=') },
      ),
    [set],
  );
  const onEnd = useCallback(() => feed.loadOlder(), [feed]);
  const mark = ({ id }: CallRow) =>
    setMarked((now) => (now.includes(id) ? now.filter((other) => other !== id) : [...now.slice(-1), id]));
  const actions = [
    {
      keys: 'f',
      label: 'Only calls of this tool',
      run: (call: CallRow) => setQuery(onlyThis(q, call, false), { replace: false }),
    },
    {
      keys: 'shift+f',
      label: 'No calls of this tool',
      run: (call: CallRow) => setQuery(onlyThis(q, call, true), { replace: false }),
    },
    { keys: 'x', label: 'Mark the call', run: mark },
    {
      keys: 'c',
      label: 'Compare the two marked calls',
      run: () => {
        const [one, other] = marked;
        if (one && other) setCompared([one, other]);
      },
    },
    { keys: 'y', label: 'Copy a link to the call', run: (call: CallRow) => void copyEntries(call)[0]?.run() },
  ];
  const { state, store } = feed;
  const hasPanel = open !== undefined;
  return (
    <div
      className={`live${hasPanel ? ' with-panel' : ''}`}
      style={{ '--share': `${share}%` } as React.CSSProperties}
    >
      <h1 className="hidden-text">{feed.isLive ? 'Live calls' : 'Calls'}</h1>
      <ToolBar range={range} group={group}>
        <FilterBar query={q} onChange={setQuery} />
      </ToolBar>
      <div className="summary">
        <RateStrip query={query} range={range} onRange={(next) => set({ t: next })} />
        <StatusCounts query={query} range={range} onChange={setQuery} />
      </div>
      {state.error ? <Failure error={state.error} retry={() => feed.retry()} /> : null}
      {range.kind === 'wrong' ? (
        <p className="note err">
          The time range <code>{range.text}</code> cannot be read: use live, 15m, 1h, 24h, 7d, or FROM..TO.
        </p>
      ) : null}
      <MissingRow missing={state.missing} lost={state.lost} reload={feed.reload} />
      <div className="live-body">
        <section className="live-list" aria-label="Calls">
          {group ? (
            <GroupTable by={group} query={query} range={range} />
          ) : state.isLoading && store.size === 0 ? (
            <Loading what="calls" rows={12} />
          ) : store.size === 0 && !state.error ? (
            query === '' && feed.isLive ? (
              <ListeningNote />
            ) : (
              <NoMatch query={q} range={range} onDrop={setQuery} onAll={() => set({ t: undefined })} />
            )
          ) : (
            <CallList
              key={`${query}\n${t ?? ''}`}
              store={store}
              open={open}
              onOpen={openCall}
              onEnd={onEnd}
              marked={marked}
              actions={actions}
              columns={cols}
              clockAhead={state.clockAhead}
              label="Calls, newest first"
            />
          )}
          {marked.length > 0 ? (
            <div className="marked-bar row">
              <span className="grow">
                {marked.length === 1 ? '1 call marked; mark another to compare' : '2 calls marked'}
              </span>
              {marked.length === 2 ? (
                <button
                  type="button"
                  className="button"
                  onClick={() => setCompared(marked as [string, string])}
                >
                  Compare <kbd>C</kbd>
                </button>
              ) : null}
              <button type="button" className="button quiet" onClick={() => setMarked([])}>
                Clear
              </button>
            </div>
          ) : null}
        </section>
        {hasPanel ? (
          <>
            <Splitter share={share} onShare={setShare} />
            <CallPanel
              id={open}
              store={store}
              query={q}
              onClose={() => openCall(undefined)}
              onQuery={setQuery}
              onCompare={(other) => setCompared([open, other])}
            />
          </>
        ) : null}
      </div>
      {compared ? <CompareDialog ids={compared} onClose={() => setCompared(undefined)} /> : null}
    </div>
  );
}

function onlyThis(query: string, { server, tool }: CallRow, not: boolean): string {
  return withTerm(not ? query : withTerm(query, 'server', server), 'tool', tool, not);
}
