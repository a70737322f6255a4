import type { Kysely, Selectable } from 'kysely';
import type { SessionTokensTable, StoreSchema } from './schema.js';

export type TokenRow = Selectable<SessionTokensTable>;

/** The hashes of the tokens that were given to sessions. */
export class TokenStore {
  constructor(private readonly db: Kysely<StoreSchema>) {}

  async add(row: TokenRow): Promise<void> {
    await this.db.insertInto('session_tokens').values(row).execute();
  }

  async revoke(sessionId: string): Promise<void> {
    await this.db.deleteFrom('session_tokens').where('session_id', '=', sessionId).execute();
  }

  /** Those that are good; the others are forgotten. */
  async good(now: number): Promise<TokenRow[]> {
    await this.db.deleteFrom('session_tokens').where('expires_at', '<=', now).execute();
    return this.db.selectFrom('session_tokens').selectAll().execute();
  }
}
