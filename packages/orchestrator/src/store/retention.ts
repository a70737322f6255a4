import { messageOf } from '@mcpbridge/shared/errors.js';
import { type Kysely, sql } from 'kysely';
import type { Log } from '../log.js';
import type { StoreSchema } from './schema.js';
import type { Spilled } from './spilled.js';

export interface RetentionLimits {
  /** Milliseconds that a call is kept; 0: for good. */
  ageMs: number;
  /** Bytes of records and the files of their results together; 0: no limit. */
  bytes: number;
}

const FIRST_AFTER_MS = 30_000;
const EVERY_MS = 5 * 60_000;
/** Calls of one statement: other queries wait for it. */
const AT_ONCE = 2000;

/**
 * Takes old calls away, by age and when there are too many, and the agent's conversations of their time with them; the place
 * of theirs in the file is used again.
 */
export class Retention {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private closed = false;

  constructor(
    private readonly db: Kysely<StoreSchema>,
    private readonly results: Spilled,
    readonly limits: RetentionLimits,
    private readonly log: Log,
  ) {
    if (limits.ageMs > 0 || limits.bytes > 0) this.next(FIRST_AFTER_MS);
  }

  /** Takes away all that is too old or too much; never rejects. */
  sweep(): Promise<void> {
    this.running ??= this.take()
      .catch((error) => {
        this.log.error(`Old calls were not taken away: ${messageOf(error)}`);
      })
      .finally(() => {
        this.running = undefined;
      });
    return this.running;
  }

  /** Bytes that calls take now: the file's pages in use, and the results beside it. */
  async used(): Promise<number> {
    const { rows } = await sql<{ bytes: number }>`select
      (select page_count from pragma_page_count) * (select page_size from pragma_page_size)
      - (select freelist_count from pragma_freelist_count) * (select page_size from pragma_page_size)
      + (select coalesce(sum(length(result) + result_cut), 0) from calls where result_kept = 1) as bytes`.execute(
      this.db,
    );
    return rows[0]?.bytes ?? 0;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private next(afterMs: number): void {
    this.timer = setTimeout(
      () => void this.sweep().then(() => !this.closed && this.next(EVERY_MS)),
      afterMs,
    ).unref();
  }

  private async take(): Promise<void> {
    const { ageMs, bytes } = this.limits;
    if (ageMs > 0) {
      const before = Date.now() - ageMs;
      while ((await this.takeOldest(before)) === AT_ONCE && !this.closed);
      await this.takeConversations(before);
    }
    if (bytes > 0) while ((await this.used()) > bytes && !this.closed && (await this.takeOldest()) > 0);
  }

  /** Answers how many went. */
  private async takeOldest(before = Number.MAX_SAFE_INTEGER): Promise<number> {
    const { rows } = await sql<{ id: string; kept: number; at: number }>`delete from calls where seq in
      (select seq from calls where started_at < ${before} order by started_at limit ${sql.lit(AT_ONCE)})
      returning id, result_kept as kept, started_at as at`.execute(this.db);
    for (const { id, kept } of rows) if (kept === 1) await this.results.forget(id);
    if (rows.length > 0) await this.takeConversations(Math.max(...rows.map(({ at }) => at)));
    return rows.length;
  }

  /** Those that were not used since, and have nothing to do any more. */
  private async takeConversations(before: number): Promise<void> {
    const { rows } = await sql<{ id: string }>`delete from agent_conversations where updated_at < ${before}
      and not exists (select 1 from agent_runs where conversation_id = agent_conversations.id
        and state in ('running', 'waiting'))
      returning id`.execute(this.db);
    for (const { id } of rows) {
      await sql`delete from agent_entries where conversation_id = ${id}`.execute(this.db);
      await sql`delete from agent_runs where conversation_id = ${id}`.execute(this.db);
    }
  }
}
