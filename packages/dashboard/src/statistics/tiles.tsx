import type { CallSums } from '@mcpbridge/shared/call-statistics.js';
import { Link } from '@tanstack/react-router';
import { liveLink } from '../address/address';
import { withOnly } from '../calls/filter-words';
import { count, duration, percent } from '../text/units';

interface TilesProps {
  now: CallSums;
  /** Of the same length of time just before. */
  past: CallSums | undefined;
  query: string;
  t: string;
}

/** The sums of all, each a link to the calls that it counts. */
export function Tiles({ now, past, query, t }: TilesProps) {
  const has = past !== undefined && past.calls > 0;
  const tiles: [string, string, string | undefined, string][] = [
    ['calls', count(now.calls), has ? change(now.calls, past.calls) : undefined, query],
    [
      'failed',
      count(now.failed),
      has ? `${percent(now.errorShare)}, was ${percent(past.errorShare)}` : percent(now.errorShare),
      withOnly(query, 'status', 'failed'),
    ],
    ['refused', count(now.refused), undefined, withOnly(query, 'status', 'refused')],
    [
      'p95',
      now.p95 === undefined ? '' : duration(now.p95),
      has && past.p95 !== undefined ? `was ${duration(past.p95)}` : undefined,
      query,
    ],
    ['tokens, estimated', count(now.tokens), has ? change(now.tokens, past.tokens) : undefined, query],
  ];
  return (
    <ul className="tiles">
      {tiles.map(([name, value, note, filter]) => (
        <li className="tile" key={name}>
          <Link to={liveLink(filter, { t }) as never}>
            <strong>{value}</strong> <span className="dim">{name}</span>
          </Link>
          {note ? <p className="dim">{note}</p> : null}
        </li>
      ))}
    </ul>
  );
}

function change(now: number, past: number): string {
  const share = now / past - 1;
  return `${share >= 0 ? '+' : '−'}${percent(Math.abs(share))} on the time before`;
}
