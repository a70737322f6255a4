import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { type Kysely, sql } from 'kysely';
import type { StoreSchema } from './schema.js';

/** So many of the latest decisions are kept. */
const MOST = 100_000;

export interface DecisionPage {
  /** The latest first. */
  decisions: JsonObject[];
  /** For the page after this one; absent: there is none. */
  next?: number;
}

export interface DecisionQuery {
  limit: number;
  /** `next` of the page before. */
  before?: number | undefined;
  state?: string | undefined;
}

/** What was decided of proposals, and what a yes is good for later. */
export class DecisionStore {
  private writing: Promise<unknown> = Promise.resolve();

  constructor(private readonly db: Kysely<StoreSchema>) {}

  /** Decisions are kept in the order in which they are added. */
  add(state: string, decision: JsonObject): Promise<void> {
    const added = this.writing.then(async () => {
      const content = JSON.stringify(decision);
      const { insertId } = await this.db
        .insertInto('decisions')
        .values({ state, content })
        .executeTakeFirst();
      await this.db
        .deleteFrom('decisions')
        .where('seq', '<=', Number(insertId ?? 0) - MOST)
        .execute();
    });
    // One that could not be kept does not keep out the next.
    this.writing = added.catch(() => undefined);
    return added;
  }

  /** Of one way to end, or of all. */
  async page({ limit, before = Number.MAX_SAFE_INTEGER, state }: DecisionQuery): Promise<DecisionPage> {
    await this.writing;
    const all = this.db.selectFrom('decisions').selectAll().where('seq', '<', before);
    const rows = await (state === undefined ? all : all.where('state', '=', state))
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .execute();
    const shown = rows.slice(0, limit);
    const decisions = shown.map(({ content }) => JSON.parse(content) as JsonObject);
    const last = shown.at(-1)?.seq;
    return rows.length > limit && last !== undefined ? { decisions, next: last } : { decisions };
  }

  async remembered(): Promise<{ sessionId: string; covers: string }[]> {
    const rows = await this.db.selectFrom('remembered_approvals').selectAll().execute();
    return rows.map(({ session_id: sessionId, covers }) => ({ sessionId, covers }));
  }

  async remember(sessionId: string, covers: string): Promise<void> {
    await sql`insert into remembered_approvals (session_id, covers) values (${sessionId}, ${covers})
      on conflict do nothing`.execute(this.db);
  }

  async forget(sessionId: string): Promise<void> {
    await this.db.deleteFrom('remembered_approvals').where('session_id', '=', sessionId).execute();
  }
}
