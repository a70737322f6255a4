import type { CallDetails, CallNote, CallRow } from '@mcpbridge/shared/call-row.js';
import type { CallStatistics } from '@mcpbridge/shared/call-statistics.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { type Kysely, type Selectable, sql } from 'kysely';
import { withoutMark } from './bounded-json.js';
import { PREVIEW_CHARACTERS, rowOfTable, SUMMARY_COLUMNS } from './call-row.js';
import { type CallSelection, selected } from './call-selected.js';
import { callStatistics, type Grouped } from './call-statistics.js';
import type { CallsTable, StoreSchema } from './schema.js';
import type { WatchedRow } from './scribe.js';

export type { CallSelection } from './call-selected.js';

export interface CallPageRequest extends CallSelection {
  /** `next` of the page before. */
  before?: string | undefined;
  limit: number;
}

export interface CallPage {
  calls: CallRow[];
  /** Gives the following page as `before`; absent on the last one. */
  next?: string;
}

export interface CountedValue {
  value: string;
  count: number;
}

export const COUNTED = [
  'status',
  'server',
  'tool',
  'session',
  'client',
  'code',
  'principal',
  'project',
  'via',
] as const;
export type Counted = (typeof COUNTED)[number];

/** Values of one key that are counted; the rest is one number. */
const MOST_VALUES = 50;

/** Questions about stored calls, on a connection of their own: a search through a million of them holds up no record. */
export class CallQueries {
  constructor(
    private readonly reader: () => Kysely<StoreSchema>,
    private readonly flush: () => Promise<void>,
  ) {}

  /** Newest first, with what was added a moment ago. */
  async list({ before, limit, ...selection }: CallPageRequest): Promise<CallPage> {
    await this.flush();
    let query = selected(this.reader(), selection);
    if (before !== undefined) query = query.where(beforeCursor(before));
    const found = await query
      .select(SUMMARY_COLUMNS)
      .select(preview)
      .orderBy('started_at', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .execute();
    return paged(found, limit, rowOfTable);
  }

  /** In the order of their events' numbers, from after one up to another, for who follows. */
  async after(seq: number, upTo: number, limit: number): Promise<WatchedRow[]> {
    await this.flush();
    const found = await this.reader()
      .selectFrom('calls')
      .select(SUMMARY_COLUMNS)
      .select(['arguments', preview])
      .where('seq', '>', seq)
      .where('seq', '<=', upTo)
      .orderBy('seq')
      .limit(limit)
      .execute();
    return found.map((one) => ({
      row: rowOfTable(one),
      kept: { arguments: one.arguments, message: one.error_message ?? undefined },
    }));
  }

  async get(id: string): Promise<CallDetails | undefined> {
    await this.flush();
    const row = await this.reader()
      .selectFrom('calls')
      .selectAll()
      .select(preview)
      .where('id', '=', id)
      .executeTakeFirst();
    if (!row) return undefined;
    const replays = await this.reader()
      .selectFrom('calls')
      .select('id')
      .where('replay_of', '=', id)
      .orderBy('seq', 'desc')
      .limit(20)
      .execute();
    return { ...detailsOf(row), ...(replays.length > 0 ? { replays: replays.map((one) => one.id) } : {}) };
  }

  /** As `list`, with all that is kept of each call. */
  async whole(request: CallPageRequest): Promise<{ calls: CallDetails[]; next?: string }> {
    await this.flush();
    const { before, limit } = request;
    let query = selected(this.reader(), request);
    if (before !== undefined) query = query.where(beforeCursor(before));
    const found = await query
      .selectAll()
      .select(preview)
      .orderBy('started_at', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .execute();
    return paged(found, limit, detailsOf);
  }

  async statistics(
    selection: CallSelection & { since: number; until: number },
    by: Grouped,
    buckets: number,
  ): Promise<CallStatistics> {
    await this.flush();
    return callStatistics(this.reader(), selection, by, buckets);
  }

  async count(selection: CallSelection): Promise<number> {
    await this.flush();
    const found = await selected(this.reader(), selection)
      .select(sql<number>`count(*)`.as('count'))
      .executeTakeFirst();
    return found?.count ?? 0;
  }

  /** How many calls have which value of a key, most frequent first. */
  async countBy(key: Counted, selection: CallSelection): Promise<CountedValue[]> {
    await this.flush();
    const column = VALUES[key];
    return selected(this.reader(), selection)
      .select([sql<string>`${column}`.as('value'), sql<number>`count(*)`.as('count')])
      .where(sql<boolean>`${column} is not null and ${column} <> ''`)
      .groupBy(sql`1`)
      .orderBy('count', 'desc')
      .limit(MOST_VALUES)
      .execute();
  }
}

const VALUES = {
  status: sql`case outcome when 'tool_error' then 'failed' else outcome end`,
  server: sql.ref('server'),
  tool: sql.ref('tool'),
  session: sql.ref('session_id'),
  client: sql.ref('client'),
  code: sql.ref('error_code'),
  principal: sql.ref('principal'),
  project: sql.ref('project'),
  via: sql.ref('via'),
} as const;

const preview = sql<string>`substr(arguments, 1, ${sql.lit(PREVIEW_CHARACTERS)})`.as('preview');

function beforeCursor(text: string) {
  const match = /^(\d{1,16})\.(\d{1,16})$/.exec(text);
  if (!match)
    throw new AppError('INVALID_REQUEST', `"before" is "${text}"; give it the "next" of an earlier page.`);
  return sql<boolean>`(started_at, seq) < (${Number(match[1])}, ${Number(match[2])})`;
}

function paged<Row, Call extends CallRow>(
  found: Row[],
  limit: number,
  read: (row: Row) => Call,
): { calls: Call[]; next?: string } {
  const calls = found.slice(0, limit).map(read);
  const last = calls.at(-1);
  return found.length > limit && last ? { calls, next: `${last.at}.${last.seq}` } : { calls };
}

function detailsOf(row: Selectable<CallsTable> & { preview: string }): CallDetails {
  const { arguments: text, arguments_cut: cut, result, result_cut: resultCut, error_message: message } = row;
  const details: CallDetails = { ...rowOfTable(row), arguments: cut === 0 ? JSON.parse(text) : text };
  if (row.client !== null) details.client = row.client;
  if (cut > 0) details.argumentsCut = cut;
  if (result !== null) {
    details.resultBytes = Buffer.byteLength(withoutMark(result, resultCut)) + resultCut;
    if (resultCut === 0) details.result = JSON.parse(result);
    else details.resultKept = row.result_kept === 1;
  }
  if (message !== null) details.message = message;
  if (row.rule_ms !== null) details.timing = timingOf(row);
  if (row.notes !== null) details.notes = notesOf(row.notes);
  if (row.replay_of !== null) details.replayOf = row.replay_of;
  return details;
}

function timingOf({ rule_ms, waiting_ms, queue_ms, upstream_ms, duration_ms }: Selectable<CallsTable>) {
  const parts = {
    rule: rule_ms ?? 0,
    waiting: waiting_ms ?? 0,
    queue: queue_ms ?? 0,
    upstream: upstream_ms ?? 0,
  };
  const shape = duration_ms - parts.rule - parts.waiting - parts.queue - parts.upstream;
  return { ...parts, shape: Math.max(0, Math.round(shape * 1000) / 1000) };
}

/** Notes beyond the bound are cut, and then no JSON. */
function notesOf(text: string): CallNote[] {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}
