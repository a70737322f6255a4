import type { CallStatisticsGroup } from '@mcpbridge/shared/call-statistics.js';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { liveLink } from '../address/address';
import { withOnly } from '../calls/filter-words';
import { inert } from '../text/inert';
import { bytes, count, duration, percent } from '../text/units';

/** Below this a p99 says nothing. */
const ENOUGH = 20;

interface GroupFiguresProps {
  groups: readonly CallStatisticsGroup[];
  by: string;
  query: string;
  t: string;
}

type SortKey = 'calls' | 'errorShare' | 'p50' | 'p95' | 'p99' | 'bytes' | 'tokens';

const figureOf = (group: CallStatisticsGroup, key: SortKey) =>
  key === 'bytes' ? group.argumentBytes + group.resultBytes : (group[key] ?? 0);

/** One line for each tool, server or whatever it is grouped by; each number opens the calls that it counts. */
export function GroupFigures({ groups, by, query, t }: GroupFiguresProps) {
  const [sort, setSort] = useState<SortKey>('calls');
  const sorted = useMemo(
    () => [...groups].sort((a, b) => figureOf(b, sort) - figureOf(a, sort)),
    [groups, sort],
  );
  const columns: [SortKey, string][] = [
    ['calls', 'Calls'],
    ['errorShare', 'Failed'],
    ['p50', 'p50'],
    ['p95', 'p95'],
    ['p99', 'p99'],
    ['bytes', 'Bytes'],
    ['tokens', 'Tokens'],
  ];
  return (
    <div className="scroll-x">
      <table className="table">
        <caption className="hidden-text">Figures by {by}</caption>
        <thead>
          <tr>
            <th>{by}</th>
            {columns.map(([key, label]) => (
              <th className="num" key={key} aria-sort={sort === key ? 'descending' : undefined}>
                <button type="button" className="button link" onClick={() => setSort(key)}>
                  {label}
                  {sort === key ? ' ↓' : ''}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((group) => {
            const terms = termsOf(group);
            const name = terms.map(([, value]) => value).join(' · ') || 'none';
            const filter = terms.reduce((now, [key, value]) => withOnly(now, key, value), query);
            const few = group.calls < ENOUGH;
            const bad = group.failed + group.refused;
            return (
              <tr key={name}>
                <td className="mono">
                  <Link to={liveLink(filter, { t }) as never}>{inert(name)}</Link>
                </td>
                <td className="num">
                  <Link to={liveLink(filter, { t }) as never}>{count(group.calls)}</Link>
                </td>
                <td className="num">
                  {bad > 0 ? (
                    <Link
                      className="err-text"
                      to={
                        liveLink(`${withOnly(filter, 'status', undefined)} status:failed,refused`.trim(), {
                          t,
                        }) as never
                      }
                    >
                      {percent(group.errorShare)}
                    </Link>
                  ) : (
                    percent(0)
                  )}
                </td>
                <td className="num">{group.p50 === undefined ? '' : duration(group.p50)}</td>
                <td className="num">{group.p95 === undefined ? '' : duration(group.p95)}</td>
                <td className="num dim">
                  {few ? 'too few' : group.p99 === undefined ? '' : duration(group.p99)}
                </td>
                <td className="num">{bytes(group.argumentBytes + group.resultBytes)}</td>
                <td className="num">{count(group.tokens)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function termsOf({
  server,
  tool,
  session,
  client,
  principal,
  code,
}: CallStatisticsGroup): [string, string][] {
  return Object.entries({ server, tool, session, client, principal, code }).flatMap(([key, value]) =>
    value ? [[key, value] as [string, string]] : [],
  );
}
