import type { CallStatisticsGroup } from '@mcpbridge/shared/call-statistics.js';
import { Link } from '@tanstack/react-router';
import { liveLink, type Search, stringifySearch } from '../address/address';
import { inert } from '../text/inert';
import { count, relative, shortTime, wholeTime } from '../text/units';
import type { Column } from '../ui/pick-table';
import type { SessionRow } from './session-tree';
import type { SessionInfo } from './use-sessions';

interface SessionFigures {
  isEnded: boolean;
  search: Search;
  /** Of the last seven days. */
  figureOf(session: SessionInfo): CallStatisticsGroup | undefined;
  /** Name of its client and the project that it works in, where they are known. */
  clientOf(session: SessionInfo): string | undefined;
}

export function sessionColumns({
  isEnded,
  search,
  figureOf,
  clientOf,
}: SessionFigures): Column<SessionRow>[] {
  return [
    {
      title: 'Session',
      cell: ({ session, depth }) => (
        <>
          <Link
            to={`/sessions/${encodeURIComponent(session.id)}${stringifySearch(search)}` as never}
            className="plain"
            style={{ paddingLeft: depth * 16 }}
            title={session.id}
          >
            {depth > 0 ? '↳ ' : ''}
            {inert(sessionLabel(session, clientOf(session)))}
          </Link>
          {session.policy?.tools ? <span className="tag">policy</span> : null}
        </>
      ),
    },
    { title: 'Owner', isMinor: true, cell: ({ session }) => inert(session.owner) },
    {
      title: 'Calls',
      isNumber: true,
      cell: ({ session }) => {
        const figure = figureOf(session);
        if (!figure) return 0;
        return (
          <Link to={liveLink(`session:${session.id}`, { t: '7d' }) as never}>{count(figure.calls)}</Link>
        );
      },
    },
    {
      title: 'Failed',
      isNumber: true,
      cell: ({ session }) => {
        const failed = figureOf(session)?.failed ?? 0;
        if (failed === 0) return 0;
        return (
          <Link
            className="err-text"
            to={liveLink(`session:${session.id} status:failed`, { t: '7d' }) as never}
          >
            {count(failed)}
          </Link>
        );
      },
    },
    {
      title: 'Last used',
      hint: ({ session }) => wholeTime(Date.parse(session.lastUsedAt)),
      cell: ({ session }) => relative(Date.parse(session.lastUsedAt)),
    },
    { title: isEnded ? 'Ended' : 'Ends', isMinor: true, cell: ({ session }) => endOf(session) },
  ];
}

function endOf({ endedAt, expiresAt }: SessionInfo): string {
  if (endedAt) return shortTime(Date.parse(endedAt));
  return expiresAt ? relative(Date.parse(expiresAt)) : 'when it is ended';
}

/** `claude-code 2.1 · web-app · 09:41`; the id alone where nobody has said who it is. */
export function sessionLabel(
  { id, createdAt, client: own, project }: SessionInfo,
  client: string | undefined,
): string {
  const who = client ?? own ?? id;
  const parts = [who, ...(project && !who.endsWith(`· ${project}`) ? [project] : [])];
  return [...parts, shortTime(Date.parse(createdAt))].join(' · ');
}
