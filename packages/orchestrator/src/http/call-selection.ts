import { parseCallFilter } from '@mcpbridge/shared/call-filter.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Principal } from '../auth/principal.js';
import type { CallSelection } from '../store/call-queries.js';

type Query = Record<string, string | undefined>;

/** Which calls a request means, for lists, counts, streams and exports alike. */
export const SELECTION_QUERY = {
  q: 'the filter: words and key:value, for example `server:github status:failed dur:>1s`',
  since: 'started at this time or later (ISO 8601, or milliseconds since the epoch)',
  until: 'started before this time',
};
/** Single keys as parameters of their own, for scripts. */
const KEYS = ['session', 'server', 'tool', 'status', 'client', 'code'] as const;

/** Whoever may not see what others did gets what is its own. */
export function callSelection(query: Query, principal: Principal): CallSelection {
  const since = timeOf('since', query.since);
  const until = timeOf('until', query.until);
  const filter = callFilter(query);
  const own = { key: 'principal', not: false, values: [{ is: principal.id }], start: 0, end: 0 };
  if (!principal.isAdmin) filter.terms.push(own);
  return { filter, since, until };
}

/** @throws INVALID_REQUEST with each fault of the filter and where it is. */
export function callFilter(query: Query) {
  const own = KEYS.flatMap((key) => (query[key] ? [`${key}:${JSON.stringify(query[key])}`] : []));
  const filter = parseCallFilter([query.q ?? '', ...own].join(' '));
  const { faults } = filter;
  if (faults.length === 0) return filter;
  throw new AppError(
    'INVALID_REQUEST',
    `The filter cannot be read: ${faults.map((fault) => fault.message).join(' ')}`,
    {
      details: { faults },
    },
  );
}

export function timeOf(key: string, text: string | undefined): number | undefined {
  if (!text) return undefined;
  const time = /^\d{10,16}$/.test(text) ? Number(text) : Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new AppError('INVALID_REQUEST', `${key} is "${text}"; give a time such as 2026-11-30T12:00:00Z.`);
}

/** A whole number between two bounds. */
export function countOf(key: string, text: string | undefined, { least = 1, most = 1, usual = 1 }): number {
  const count = text === undefined ? usual : Number(text);
  if (Number.isInteger(count) && count >= least && count <= most) return count;
  throw new AppError('INVALID_REQUEST', `${key} is "${text}"; give a number from ${least} to ${most}.`);
}
