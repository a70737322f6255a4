import { createHash, randomBytes } from 'node:crypto';
import type { TokenRow, TokenStore } from '../store/token-store.js';

/** Says at a glance, to a person and to a scanner of repositories, what leaked. */
const PREFIX = 'mcps_';

/** Tokens that are good for one session alone; only their hashes are kept. */
export class SessionTokens {
  private readonly byHash = new Map<string, TokenRow>();

  private constructor(private readonly store: TokenStore) {}

  static async open(store: TokenStore): Promise<SessionTokens> {
    const tokens = new SessionTokens(store);
    for (const row of await store.good(Date.now())) tokens.byHash.set(row.hash, row);
    return tokens;
  }

  /** A new one; `expiresAt` in milliseconds since the epoch. */
  async issue(sessionId: string, owner: string, expiresAt: number): Promise<string> {
    const token = PREFIX + randomBytes(32).toString('base64url');
    const row = { hash: hashOf(token), session_id: sessionId, owner, expires_at: expiresAt };
    await this.store.add(row);
    this.byHash.set(row.hash, row);
    return token;
  }

  /** Whose it is; undefined when it is none of ours, was revoked, or its time is over. */
  find(token: string): { id: string; sessionId: string; isAdmin: false } | undefined {
    if (!token.startsWith(PREFIX)) return undefined;
    const row = this.byHash.get(hashOf(token));
    if (!row || row.expires_at <= Date.now()) return undefined;
    return { id: row.owner, sessionId: row.session_id, isAdmin: false };
  }

  /** All of a session. */
  async revoke(sessionId: string): Promise<void> {
    for (const row of this.byHash.values()) if (row.session_id === sessionId) this.byHash.delete(row.hash);
    await this.store.revoke(sessionId);
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
