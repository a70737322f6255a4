import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

export interface SessionToolRow {
  definition: ToolDefinition;
  url: string;
  secret: string;
}

/** The custom tools of sessions. */
export class SessionToolStore {
  constructor(private readonly db: Kysely<StoreSchema>) {}

  /** By name; another of that name is replaced. */
  async put(sessionId: string, { definition, url, secret }: SessionToolRow): Promise<void> {
    const rest = { definition: JSON.stringify(definition), url, secret };
    await this.db
      .insertInto('session_tools')
      .values({ session_id: sessionId, name: definition.name, ...rest })
      .onConflict((conflict) => conflict.columns(['session_id', 'name']).doUpdateSet(rest))
      .execute();
  }

  async remove(sessionId: string, name?: string): Promise<void> {
    let query = this.db.deleteFrom('session_tools').where('session_id', '=', sessionId);
    if (name !== undefined) query = query.where('name', '=', name);
    await query.execute();
  }

  async of(sessionId: string): Promise<SessionToolRow[]> {
    const rows = await this.db
      .selectFrom('session_tools')
      .selectAll()
      .where('session_id', '=', sessionId)
      .orderBy('name')
      .execute();
    return rows.map(({ definition, url, secret }) => ({ definition: JSON.parse(definition), url, secret }));
  }
}
