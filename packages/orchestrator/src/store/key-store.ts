import type { SessionPolicy } from '@mcpbridge/shared/policy.js';
import type { Kysely, Selectable } from 'kysely';
import type { KeysTable, StoreSchema } from './schema.js';

/** What a key's sessions may have at most. */
export type KeyRights = Pick<SessionPolicy, 'tools' | 'folders' | 'network'>;

export interface KeyRow {
  id: string;
  name: string;
  hash: string;
  isAdmin: boolean;
  rights: KeyRights;
  /** All times are milliseconds since the epoch. */
  createdAt: number;
  expiresAt?: number;
  lastUsedAt?: number;
}

/** Keys by the hashes of their secrets. */
export class KeyStore {
  constructor(private readonly db: Kysely<StoreSchema>) {}

  async add(key: KeyRow): Promise<void> {
    await this.db.insertInto('keys').values(toRow(key)).execute();
  }

  async all(): Promise<KeyRow[]> {
    return (await this.db.selectFrom('keys').selectAll().orderBy('created_at').execute()).map(fromRow);
  }

  async used(id: string, at: number): Promise<void> {
    await this.db.updateTable('keys').set({ last_used_at: at }).where('id', '=', id).execute();
  }

  async remove(id: string): Promise<void> {
    await this.db.deleteFrom('keys').where('id', '=', id).execute();
  }
}

function toRow(key: KeyRow): Selectable<KeysTable> {
  return {
    id: key.id,
    name: key.name,
    hash: key.hash,
    admin: key.isAdmin ? 1 : 0,
    rights: JSON.stringify(key.rights),
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    last_used_at: key.lastUsedAt ?? null,
  };
}

function fromRow(row: Selectable<KeysTable>): KeyRow {
  return {
    id: row.id,
    name: row.name,
    hash: row.hash,
    isAdmin: row.admin === 1,
    rights: JSON.parse(row.rights),
    createdAt: row.created_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
  };
}
