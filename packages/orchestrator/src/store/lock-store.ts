import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

/** The tools as they were accepted, and as a person does not want them. */
export class LockStore {
  constructor(private readonly db: Kysely<StoreSchema>) {}

  async all(): Promise<{ server: string; tool: string; definition: JsonObject }[]> {
    const rows = await this.db.selectFrom('accepted_tools').selectAll().execute();
    return rows.map(({ server, tool, definition }) => ({ server, tool, definition: JSON.parse(definition) }));
  }

  async put(server: string, tool: string, definition: JsonObject): Promise<void> {
    const row = { definition: JSON.stringify(definition) };
    await this.db
      .insertInto('accepted_tools')
      .values({ server, tool, ...row })
      .onConflict((conflict) => conflict.columns(['server', 'tool']).doUpdateSet(row))
      .execute();
  }

  async blocked(): Promise<{ server: string; hash: string }[]> {
    return this.db.selectFrom('blocked_tools').selectAll().execute();
  }

  async block(server: string, hash: string): Promise<void> {
    await this.db
      .insertInto('blocked_tools')
      .values({ server, hash })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  async unblock(server: string, hash: string): Promise<void> {
    await this.db.deleteFrom('blocked_tools').where('server', '=', server).where('hash', '=', hash).execute();
  }
}
