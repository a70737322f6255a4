import type { CallStatisticsGroup } from '@mcpbridge/shared/call-statistics.js';
import { useAddress } from '../address/address';
import { useStatistics } from '../statistics/use-statistics';
import { inert } from '../text/inert';
import { count, duration, percent } from '../text/units';
import { Failure, Loading } from '../ui/states';
import { withOnly } from './filter-words';
import type { Range } from './range';

const HOUR: Range = { kind: 'last', text: '24h', ms: 86_400_000 };

/** The calls of the filter by one of their sides; a row opens its calls. */
export function GroupTable({ by, query, range }: { by: string; query: string; range: Range }) {
  const { set } = useAddress();
  const { data, error, refetch } = useStatistics({
    by,
    query,
    range: range.kind === 'live' ? HOUR : range,
    every: 2000,
    limit: 500,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="groups" />;
  return (
    <div className="group-table scroll-x">
      <table className="table">
        <caption className="hidden-text">Calls by {by}</caption>
        <thead>
          <tr>
            <th>{by === 'code' ? 'Error' : by}</th>
            <th className="num">Calls</th>
            <th className="num">Failed</th>
            <th className="num">p50</th>
            <th className="num">p95</th>
          </tr>
        </thead>
        <tbody>
          {data.groups.map((group) => {
            const terms = termsOf(group, by);
            const name = terms.map(([, value]) => value).join(' · ') || 'none';
            const next = terms.reduce((now, [key, value]) => withOnly(now, key, value), query);
            return (
              <tr key={name}>
                <td className="mono">
                  <button
                    type="button"
                    className="button link"
                    onClick={() => set({ q: next, group: undefined })}
                  >
                    {inert(name)}
                  </button>
                </td>
                <td className="num">{count(group.calls)}</td>
                <td className={`num${group.failed + group.refused > 0 ? ' err-text' : ''}`}>
                  {percent(group.errorShare)}
                </td>
                <td className="num">{group.p50 === undefined ? '' : duration(group.p50)}</td>
                <td className="num">{group.p95 === undefined ? '' : duration(group.p95)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {data.groups.length === 0 ? <p className="said">No calls in the last 24 hours fit.</p> : null}
    </div>
  );
}

/** The filter that counts to a group. */
export function termsOf(group: CallStatisticsGroup, by: string): [string, string][] {
  const { server, tool, session, client, principal, code } = group;
  const all: Record<string, string | undefined> = { server, tool, session, client, principal, code };
  if (!(by in all) && group[by as 'server'] === undefined) return [];
  return Object.entries(all).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as [string, string]],
  );
}
