import { createHash, randomBytes } from 'node:crypto';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { Log } from '../log.js';
import type { KeyRights, KeyRow, KeyStore } from '../store/key-store.js';
import type { Principal } from './principal.js';

/** Says at a glance, to a person and to a scanner of repositories, what leaked. */
const PREFIX = 'mcpk_';
/** What begins so is the principal of a key; nobody else's id does. */
const PRINCIPAL = 'key:';
/** The store hears of uses that often at most. */
const NOTE_USE_EVERY_MS = 60_000;

export interface NewKey {
  name: string;
  isAdmin: boolean;
  rights: KeyRights;
  expiresAt?: number;
}

/** Keys that let others in than the owner. Only their hashes are kept, so a key is shown once. */
export class Keys {
  private readonly byHash = new Map<string, KeyRow>();
  private readonly byPrincipal = new Map<string, KeyRow>();

  private constructor(
    private readonly store: KeyStore,
    private readonly log: Log,
  ) {}

  static async open(store: KeyStore, log: Log): Promise<Keys> {
    const keys = new Keys(store, log);
    for (const row of await store.all()) keys.remember(row);
    return keys;
  }

  /** The key itself, which nobody can be told again. */
  async create({ name, isAdmin, rights, expiresAt }: NewKey): Promise<{ key: string; row: KeyRow }> {
    const key = PREFIX + randomBytes(32).toString('base64url');
    const id = randomBytes(6).toString('hex');
    const row: KeyRow = { id, name, hash: hashOf(key), isAdmin, rights, createdAt: Date.now() };
    if (expiresAt !== undefined) row.expiresAt = expiresAt;
    await this.store.add(row);
    this.remember(row);
    return { key, row };
  }

  /** Whose it is; undefined when it is none of ours, was revoked, or its time is over. */
  find(key: string): Principal | undefined {
    if (!key.startsWith(PREFIX)) return undefined;
    const row = this.byHash.get(hashOf(key));
    if (!row || isOver(row)) return undefined;
    this.noteUse(row);
    return { id: PRINCIPAL + row.id, isAdmin: row.isAdmin };
  }

  /** May what belongs to that principal still be used? */
  isGood(principalId: string): boolean {
    if (!principalId.startsWith(PRINCIPAL)) return true;
    const row = this.byPrincipal.get(principalId);
    return row !== undefined && !isOver(row);
  }

  /** What the sessions of that principal may have at most; undefined: everything. */
  rightsOf(principalId: string): KeyRights | undefined {
    if (!principalId.startsWith(PRINCIPAL)) return undefined;
    const row = this.byPrincipal.get(principalId);
    if (row?.isAdmin) return undefined;
    return row?.rights ?? NONE;
  }

  list(): KeyRow[] {
    return [...this.byPrincipal.values()];
  }

  /** Answers the principal that it was; @throws NOT_FOUND */
  async revoke(id: string): Promise<string> {
    const principal = PRINCIPAL + id;
    const row = this.byPrincipal.get(principal);
    if (!row) throw new AppError('NOT_FOUND', `There is no key "${id}".`);
    this.byPrincipal.delete(principal);
    this.byHash.delete(row.hash);
    await this.store.remove(id);
    return principal;
  }

  private remember(row: KeyRow): void {
    this.byHash.set(row.hash, row);
    this.byPrincipal.set(PRINCIPAL + row.id, row);
  }

  private noteUse(row: KeyRow): void {
    const now = Date.now();
    if (row.lastUsedAt !== undefined && now - row.lastUsedAt < NOTE_USE_EVERY_MS) return;
    row.lastUsedAt = now;
    this.store
      .used(row.id, now)
      .catch((error) => this.log.warn(`The use of key "${row.id}" was not noted: ${messageOf(error)}`));
  }
}

/** Of a key that is gone. */
const NONE: KeyRights = { tools: { allow: [] } };

function isOver({ expiresAt }: KeyRow): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}
