import { AppError } from '@mcpbridge/shared/errors.js';
import type { FollowOptions } from '../events/follower.js';
import { callFilter } from './call-selection.js';

export const FOLLOW_QUERY = {
  q: 'only calls that fit this filter, as in GET /api/calls',
  since: 'the number of the last event that was seen; absent: only what comes from now on',
  types: 'only events of these types, with commas: call, server, session, proposal, catalog, loss',
};

/** What a request to follow means; `Last-Event-ID` goes before `since`. */
export function followOptions(
  query: Record<string, string | undefined>,
  lastEventId?: string,
): FollowOptions {
  const since = lastEventId || query.since;
  if (since !== undefined && !/^\d{1,16}$/.test(since))
    throw new AppError(
      'INVALID_REQUEST',
      `since is "${since}"; give the seq of the last event that you have seen.`,
    );
  return {
    filter: callFilter(query),
    ...(since === undefined ? {} : { since: Number(since) }),
    ...(query.types ? { types: new Set(query.types.split(',')) } : {}),
  };
}
