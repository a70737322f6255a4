import { messageOf } from '@mcpbridge/shared/errors.js';
import type { SessionPolicy } from '@mcpbridge/shared/policy.js';
import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Log } from '../log.js';
import type { SessionsTable, StoreSchema } from './schema.js';

/** What ends a session by itself: nothing, the end of its MCP client, or of its connections. */
export type SessionLifetime = 'lasting' | 'client' | 'connection';

export interface SessionRow {
  id: string;
  /** The principal. */
  owner: string;
  /** All times are milliseconds since the epoch. */
  createdAt: number;
  lastUsedAt: number;
  lifetime: SessionLifetime;
  /** Name and version of the client that came first. */
  client?: string;
  policy?: SessionPolicy;
  endedAt?: number;
  /** The session whose policy bounds this one's, and whose end is its end. */
  parent?: string;
  expiresAt?: number;
}

export interface SessionFilter {
  /** true: only ended ones; false: only open ones. */
  ended?: boolean;
  owner?: string;
  limit: number;
}

const TOUCH_AFTER_MS = 1000;

/** What must outlive the process of a session. */
export class SessionStore {
  private readonly touched = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly db: Kysely<StoreSchema>,
    private readonly log: Log,
  ) {}

  async get(id: string): Promise<SessionRow | undefined> {
    await this.flush();
    const row = await this.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
    return row && fromRow(row);
  }

  /** Writes the whole row; what it does not have is taken away from an older one. */
  async upsert(session: SessionRow): Promise<void> {
    const { id, ...rest } = toRow(session);
    await this.db
      .insertInto('sessions')
      .values({ id, ...rest })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
      .execute();
  }

  /** Notes a use; written within a second, many of them together. */
  touch(id: string, at: number): void {
    this.touched.set(id, Math.max(at, this.touched.get(id) ?? 0));
    this.timer ??= setTimeout(() => void this.flush(), TOUCH_AFTER_MS).unref();
  }

  async end(id: string, at: number): Promise<void> {
    await this.flush();
    await this.db.updateTable('sessions').set({ ended_at: at }).where('id', '=', id).execute();
  }

  /** The open sessions under one, or those whose time is over. */
  async ids(which: { parent: string } | { expiredBy: number }): Promise<{ id: string; owner: string }[]> {
    const query = this.db.selectFrom('sessions').select(['id', 'owner']).where('ended_at', 'is', null);
    return 'parent' in which
      ? query.where('parent', '=', which.parent).execute()
      : query.where('expires_at', '<=', which.expiredBy).execute();
  }

  /** Used last first. */
  async list({ ended, owner, limit }: SessionFilter): Promise<SessionRow[]> {
    await this.flush();
    let query = this.db.selectFrom('sessions').selectAll();
    if (ended !== undefined) query = query.where('ended_at', ended ? 'is not' : 'is', null);
    if (owner !== undefined) query = query.where('owner', '=', owner);
    const rows = await query.orderBy('last_used_at', 'desc').orderBy('id').limit(limit).execute();
    return rows.map(fromRow);
  }

  /** Writes the uses that were noted; never rejects, since a use is noted again with the next call. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.touched.size === 0) return;
    const uses = [...this.touched];
    this.touched.clear();
    try {
      await this.db.transaction().execute(async (transaction) => {
        for (const [id, at] of uses) {
          await transaction
            .updateTable('sessions')
            .set({ last_used_at: at })
            .where('id', '=', id)
            .where('last_used_at', '<', at)
            .execute();
        }
      });
    } catch (error) {
      this.log.warn(`The last use of ${uses.length} sessions was not stored: ${messageOf(error)}.`);
    }
  }
}

function toRow(session: SessionRow): Insertable<SessionsTable> & { id: string } {
  const { client, policy, endedAt } = session;
  return {
    id: session.id,
    owner: session.owner,
    created_at: session.createdAt,
    last_used_at: session.lastUsedAt,
    lifetime: session.lifetime,
    client: client ?? null,
    policy: policy === undefined ? null : JSON.stringify(policy),
    ended_at: endedAt ?? null,
    parent: session.parent ?? null,
    expires_at: session.expiresAt ?? null,
  };
}

function fromRow(row: Selectable<SessionsTable>): SessionRow {
  return {
    id: row.id,
    owner: row.owner,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    lifetime: row.lifetime === 'connection' || row.lifetime === 'client' ? row.lifetime : 'lasting',
    ...(row.client === null ? {} : { client: row.client }),
    ...(row.policy === null ? {} : { policy: JSON.parse(row.policy) }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
  };
}
