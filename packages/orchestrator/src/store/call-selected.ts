import type { CallFilter } from '@mcpbridge/shared/call-filter.js';
import type { Kysely, SelectQueryBuilder } from 'kysely';
import { whereOf } from './call-where.js';
import type { StoreSchema } from './schema.js';

/** Which calls, for lists, counts and statistics alike. */
export interface CallSelection {
  filter: CallFilter;
  /** Milliseconds since the epoch: calls that started then or later. */
  since?: number | undefined;
  /** Milliseconds since the epoch: calls that started before. */
  until?: number | undefined;
}

export function selected(
  db: Kysely<StoreSchema>,
  { filter, since, until }: CallSelection,
): SelectQueryBuilder<StoreSchema, 'calls', unknown> {
  let query: SelectQueryBuilder<StoreSchema, 'calls', unknown> = db.selectFrom('calls');
  for (const condition of whereOf(filter)) query = query.where(condition);
  if (since !== undefined) query = query.where('started_at', '>=', since);
  if (until !== undefined) query = query.where('started_at', '<', until);
  return query;
}
