import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isOver } from '../calls/call';
import { request } from '../net/request';
import { inert } from '../text/inert';
import { clock, duration } from '../text/units';
import { Failure, Loading } from '../ui/states';

const WIDTH = 640;
const LABEL = 110;
const LANE = 22;
/** Bars in the picture. */
const MOST = 1000;

/** What it did, as lanes by server; each bar is a call. */
export function Timeline({ session }: { session: string }) {
  const { data, error } = useQuery({
    queryKey: ['timeline', session],
    queryFn: () => {
      const wanted = new URLSearchParams({ q: `session:${JSON.stringify(session)}`, limit: String(MOST) });
      return request<{ calls: CallRow[]; running?: CallRow[] }>(`/api/calls?${wanted}`);
    },
    refetchInterval: 2000,
  });
  if (error) return <Failure error={error} />;
  if (!data) return <Loading what="its calls" />;
  const calls = [...(data.running ?? []), ...data.calls];
  if (calls.length === 0) return <p className="said">It has called nothing yet.</p>;
  const now = Date.now();
  const from = Math.min(...calls.map(({ at }) => at));
  const to = Math.max(...calls.map((call) => call.at + (call.ms ?? now - call.at)), from + 1);
  const x = (at: number) => LABEL + ((at - from) / (to - from)) * (WIDTH - LABEL - 8);
  const lanes = [...new Set(calls.map(({ server }) => server))].sort();
  return (
    <div className="lanes">
      <svg
        viewBox={`0 0 ${WIDTH} ${lanes.length * LANE + 22}`}
        role="group"
        aria-label={`${calls.length} calls by server`}
      >
        <text x={LABEL} y={12}>
          {clock(from).slice(0, 8)}
        </text>
        <text x={WIDTH - 8} y={12} textAnchor="end">
          {clock(to).slice(0, 8)}
        </text>
        {lanes.map((server, index) => (
          <g key={server} transform={`translate(0 ${18 + index * LANE})`}>
            <text x={0} y={14}>
              {inert(server).slice(0, 18)}
            </text>
            <line x1={LABEL} x2={WIDTH} y1={LANE - 2} y2={LANE - 2} stroke="var(--line)" />
            {calls
              .filter((call) => call.server === server)
              .map((call) => (
                <Link
                  key={call.id}
                  to={`/calls/${call.id}` as never}
                  aria-label={`${call.tool} ${call.status}`}
                >
                  <rect
                    x={x(call.at)}
                    y={4}
                    height={LANE - 10}
                    width={Math.max(3, x(call.at + (call.ms ?? now - call.at)) - x(call.at))}
                    rx={1}
                    fill={FILLS[call.status] ?? 'var(--bar)'}
                  >
                    <title>{`${inert(call.tool)} ${call.status}${isOver(call) ? ` ${duration(call.ms ?? 0)}` : ''}, ${clock(call.at)}`}</title>
                  </rect>
                </Link>
              ))}
          </g>
        ))}
      </svg>
      {data.calls.length === MOST ? <p className="dim">Its last {MOST} calls.</p> : null}
    </div>
  );
}

const FILLS: Record<string, string> = {
  failed: 'var(--err)',
  refused: 'var(--deny)',
  waiting: 'var(--wait)',
  running: 'var(--run)',
  cancelled: 'var(--text-2)',
};
