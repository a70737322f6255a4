import { messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
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

/** Makes texts unreadable in the file; `what` is bound to each. */
export interface Sealing {
  seal(what: string, text: string): Promise<string>;
  unseal(what: string, sealed: string): Promise<string>;
}

const TOUCH_AFTER_MS = 1000;

/** What must outlive the process of a session. */
export class SessionStore {
  private readonly touched = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly db: Kysely<StoreSchema>,
    private readonly log: Log,
    private readonly sealing?: Sealing,
  ) {}

  async get(id: string): Promise<SessionRow | undefined> {
    await this.flush();
    const row = await this.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
    return row && this.unsealed(fromRow(row));
  }

  /** Writes the whole row; what it does not have is taken away from an older one. */
  async upsert(session: SessionRow): Promise<void> {
    const { id, ...rest } = toRow(await this.sealed(session));
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

  /** Used last first; what stands in `env` is sealed. */
  async list({ ended, owner, limit }: SessionFilter): Promise<SessionRow[]> {
    await this.flush();
    let query = this.db.selectFrom('sessions').selectAll();
    if (ended !== undefined) query = query.where('ended_at', ended ? 'is not' : 'is', null);
    if (owner !== undefined) query = query.where('owner', '=', owner);
    const rows = await query.orderBy('last_used_at', 'desc').orderBy('id').limit(limit).execute();
    return rows.map(fromRow);
  }

  private async sealed(session: SessionRow): Promise<SessionRow> {
    const { sealing } = this;
    if (!sealing || !session.policy?.env) return session;
    const variables = Object.entries(session.policy.env).map(async ([name, value]) => [
      name,
      { sealed: await sealing.seal(placeOf(session.id, name), value) },
    ]);
    return {
      ...session,
      policy: { ...session.policy, env: Object.fromEntries(await Promise.all(variables)) },
    };
  }

  private async unsealed(session: SessionRow): Promise<SessionRow> {
    const { policy } = session;
    if (!policy?.env) return session;
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries<unknown>(policy.env)) {
      try {
        const sealed = isObject(value) ? String(value.sealed) : undefined;
        // Written before there was a key.
        if (sealed === undefined) env[name] = String(value);
        else if (this.sealing) env[name] = await this.sealing.unseal(placeOf(session.id, name), sealed);
      } catch {
        // The library says no more than that it failed.
        this.log.warn(
          `"${name}" of session "${session.id}" cannot be opened: it was sealed with another key.`,
        );
      }
    }
    return { ...session, policy: { ...policy, env } };
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

function placeOf(sessionId: string, variable: string): string {
  return `session ${sessionId}: ${variable}`;
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
