import { AppError } from '@mcpbridge/shared/errors.js';
import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import {
  type CallSummary,
  PREVIEW_CHARACTERS,
  type StoredCall,
  toStoredCall,
  toSummary,
} from './call-record.js';
import type { StoreSchema } from './schema.js';

export interface CallFilter {
  principal?: string;
  session?: string;
  server?: string;
  tool?: string;
  outcome?: string;
  /** Milliseconds since the epoch: calls that started then or later. */
  since?: number;
  /** Milliseconds since the epoch: calls that started before. */
  until?: number;
  /** `next` of the page before. */
  before?: string;
  limit: number;
}

export interface CallPage {
  calls: CallSummary[];
  /** Gives the following page as `before`; absent on the last one. */
  next?: string;
}

/** Newest start first. */
export async function listCalls(db: Kysely<StoreSchema>, filter: CallFilter): Promise<CallPage> {
  const { before, limit } = filter;
  let query = filtered(db.selectFrom('calls'), filter);
  if (before !== undefined) {
    const [startedAt, seq] = readCursor(before);
    query = query.where(sql<boolean>`(started_at, seq) < (${startedAt}, ${seq})`);
  }
  const rows = await query
    .select([
      ...([
        'seq',
        'id',
        'started_at',
        'principal',
        'session_id',
        'client',
        'kind',
        'server',
        'tool',
      ] as const),
      ...([
        'outcome',
        'error_code',
        'error_message',
        'duration_ms',
        'argument_bytes',
        'result_bytes',
      ] as const),
    ])
    .select(preview)
    .orderBy('started_at', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute();
  const calls = rows.slice(0, limit).map(toSummary);
  const last = calls.at(-1);
  return rows.length > limit && last ? { calls, next: `${last.startedAt}.${last.seq}` } : { calls };
}

export async function findCall(db: Kysely<StoreSchema>, id: string): Promise<StoredCall | undefined> {
  const row = await db
    .selectFrom('calls')
    .selectAll()
    .select(preview)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && toStoredCall(row);
}

const preview = sql<string>`substr(arguments, 1, ${sql.lit(PREVIEW_CHARACTERS)})`.as('preview');

type Calls<T> = SelectQueryBuilder<StoreSchema, 'calls', T>;

function filtered<T>(query: Calls<T>, filter: CallFilter): Calls<T> {
  const { principal, session, server, tool, outcome, since, until } = filter;
  let found = query;
  if (principal !== undefined) found = found.where('principal', '=', principal);
  if (session !== undefined) found = found.where('session_id', '=', session);
  if (server !== undefined) found = found.where('server', '=', server);
  if (tool !== undefined) found = found.where('tool', '=', tool);
  if (outcome !== undefined) found = found.where('outcome', '=', outcome);
  // Said once more in words that the index of what did not succeed is made for.
  if (outcome !== undefined && outcome !== 'ok') found = found.where('outcome', '<>', sql.lit('ok'));
  if (since !== undefined) found = found.where('started_at', '>=', since);
  if (until !== undefined) found = found.where('started_at', '<', until);
  return found;
}

function readCursor(text: string): [number, number] {
  const match = /^(\d{1,15})\.(\d{1,15})$/.exec(text);
  if (!match)
    throw new AppError('INVALID_REQUEST', `"before" is "${text}"; give it the "next" of an earlier page.`);
  return [Number(match[1]), Number(match[2])];
}
