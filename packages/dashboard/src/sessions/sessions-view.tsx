import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAddress } from '../address/address';
import { useFeed } from '../calls/feeds';
import { messageOf, request } from '../net/request';
import { useTitle } from '../shell/title';
import { useStatistics } from '../statistics/use-statistics';
import { count } from '../text/units';
import { PickTable } from '../ui/pick-table';
import { SplitList } from '../ui/split-list';
import { Empty, Failure, Loading } from '../ui/states';
import { NewSession } from './new-session';
import { sessionColumns } from './session-columns';
import { SessionDetail } from './session-detail';
import { indented } from './session-tree';
import { useSessions } from './use-sessions';

const WEEK = { kind: 'last', text: '7d', ms: 7 * 86_400_000 } as const;
/** Above this only the first are in the table; words find the others. */
const MOST_ROWS = 500;

/** Who is at work, and what each may do and did. */
export default function SessionsView() {
  const { path, search, set, go } = useAddress();
  const queries = useQueryClient();
  const isEnded = search.state === 'ended';
  const { data, error, refetch } = useSessions(isEnded);
  const { data: stats } = useStatistics({ by: 'session', range: WEEK, every: 5000 });
  const feed = useFeed();
  const [isNew, setNew] = useState(false);
  const [fault, setFault] = useState<string>();
  const chosen = path.startsWith('/sessions/')
    ? decodeURIComponent(path.slice('/sessions/'.length))
    : undefined;
  useTitle('Sessions');
  const figures = new Map(stats?.groups.map((group) => [group.session ?? '', group]));
  const clients = new Map<string, string>();
  for (const call of feed.store.fromNewest()) {
    if (clients.size >= 200) break;
    if (call.client && !clients.has(call.session))
      clients.set(call.session, call.project ? `${call.client} · ${call.project}` : call.client);
  }
  const columns = sessionColumns({
    isEnded,
    search,
    figureOf: ({ id }) => figures.get(id),
    clientOf: ({ id }) => clients.get(id),
  });
  const words = (search.find ?? '').toLowerCase();
  const rows = indented(data ?? []).filter(({ session }) =>
    `${session.id} ${session.owner} ${clients.get(session.id) ?? ''}`.toLowerCase().includes(words),
  );
  const end = (id: string) =>
    request(`/api/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' }).then(
      () => {
        void queries.invalidateQueries({ queryKey: ['sessions'] });
        go('/sessions');
      },
      (error) => setFault(messageOf(error)),
    );
  return (
    <div className="split">
      <SplitList
        title="Sessions"
        find="Find sessions"
        actions={
          <>
            <div className="row" role="group" aria-label="Which sessions">
              <button
                type="button"
                className="button quiet"
                aria-pressed={!isEnded}
                onClick={() => set({ state: undefined })}
              >
                Open
              </button>
              <button
                type="button"
                className="button quiet"
                aria-pressed={isEnded}
                onClick={() => set({ state: 'ended' })}
              >
                Ended
              </button>
              <span className="dim">{data ? count(data.length) : ''}</span>
            </div>
            <button type="button" className="button" onClick={() => setNew(true)}>
              New session…
            </button>
            <Link className="button quiet" to={'/recordings' as never}>
              Recordings
            </Link>
          </>
        }
      >
        {fault ? (
          <p className="note err" role="alert">
            {fault}
          </p>
        ) : null}
        {error && !data ? <Failure error={error} retry={() => void refetch()} /> : null}
        {!data && !error ? <Loading what="sessions" /> : null}
        {data?.length === 0 ? (
          <Empty title={isEnded ? 'No session has ended yet' : 'Nobody is at work'}>
            <p>A session begins with the first call of an agent, or here with a policy of its own.</p>
          </Empty>
        ) : null}
        {rows.length > 0 ? (
          <PickTable
            columns={columns}
            rows={rows.slice(0, MOST_ROWS)}
            keyOf={({ session }) => session.id}
            chosen={chosen}
            onPick={({ session }) => go(`/sessions/${encodeURIComponent(session.id)}`, search)}
          />
        ) : null}
        {rows.length > MOST_ROWS ? (
          <p className="dim">{count(rows.length - MOST_ROWS)} more: find them by words.</p>
        ) : null}
        {data && data.length > 0 && rows.length === 0 ? <p className="said">No session fits.</p> : null}
      </SplitList>
      {chosen === undefined ? null : (
        <SessionDetail
          key={chosen}
          id={chosen}
          info={data?.find(({ id }) => id === chosen)}
          onClose={() => go('/sessions', search)}
          onEnd={end}
        />
      )}
      {isNew ? <NewSession onClose={() => setNew(false)} /> : null}
    </div>
  );
}
