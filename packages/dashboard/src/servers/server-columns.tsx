import type { CallStatisticsGroup } from '@mcpbridge/shared/call-statistics.js';
import { Link } from '@tanstack/react-router';
import { liveLink } from '../address/address';
import { inert } from '../text/inert';
import { count, duration, percent } from '../text/units';
import type { Column } from '../ui/pick-table';
import { useNow } from '../ui/use-now';
import { ServerActions } from './server-actions';
import { ServerState } from './server-state';
import type { ServerSummary } from './use-servers';

interface ServerFigures {
  /** Of the last hour. */
  figureOf(server: ServerSummary): CallStatisticsGroup | undefined;
  /** How many of its tools changed and wait for somebody to look at them. */
  held(id: string): number;
}

const addressOf = ({ id }: ServerSummary) => `/servers/${encodeURIComponent(id)}`;

export function serverColumns({ figureOf, held }: ServerFigures): Column<ServerSummary>[] {
  return [
    {
      title: 'State',
      cell: (server) => (
        <>
          <ServerState server={server} />
          <Reason server={server} />
        </>
      ),
    },
    {
      title: 'Server',
      cell: (server) => (
        <>
          <Link to={addressOf(server) as never} className="mono">
            {inert(server.id)}
          </Link>
          {held(server.id) > 0 ? (
            <Link to={`${addressOf(server)}?tab=changes` as never} className="tag wait">
              {held(server.id)} changed
            </Link>
          ) : null}
        </>
      ),
    },
    { title: 'Tools', isNumber: true, isMinor: true, cell: ({ tools }) => count(tools) },
    {
      title: 'Calls 1 h',
      isNumber: true,
      isMinor: true,
      cell: (server) => {
        const figure = figureOf(server);
        if (!figure) return 0;
        return <Link to={liveLink(`server:${server.id}`, { t: '1h' }) as never}>{count(figure.calls)}</Link>;
      },
    },
    {
      title: 'Failed',
      isNumber: true,
      isMinor: true,
      tone: (server) => ((figureOf(server)?.errorShare ?? 0) > 0 ? 'err-text' : undefined),
      cell: (server) => {
        const figure = figureOf(server);
        return figure ? percent(figure.errorShare) : '';
      },
    },
    {
      title: 'p95',
      isNumber: true,
      isMinor: true,
      cell: (server) => {
        const p95 = figureOf(server)?.p95;
        return p95 === undefined ? '' : duration(p95);
      },
    },
    {
      title: <span className="hidden-text">Actions</span>,
      isNumber: true,
      cell: (server) => <ServerActions server={server} isShort />,
    },
  ];
}

function Reason({ server }: { server: ServerSummary }) {
  const now = useNow(1000, server.retryAt !== undefined);
  const reason = server.reason ?? server.faults?.join(' ');
  if (!reason) return null;
  const next = nextTry(server, now);
  return (
    <>
      <p className="dim server-reason">{inert(reason)}</p>
      {next === undefined ? null : <p className="dim server-reason">{next}</p>}
    </>
  );
}

/** What has died at rest is started by whoever needs it next. */
function nextTry({ state, retryAt }: ServerSummary, now: number): string | undefined {
  if (retryAt !== undefined) return `Tried again in ${Math.max(0, Math.ceil((retryAt - now) / 1000))} s.`;
  return state === 'degraded' ? 'Tried again with the next call.' : undefined;
}
