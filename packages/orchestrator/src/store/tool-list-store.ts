import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

/** The tools that a server listed last, so that a start need not wait for it; of its present configuration only. */
export class ToolListStore {
  constructor(private readonly db: Kysely<StoreSchema>) {}

  async get(serverId: string, configHash: string): Promise<ToolDefinition[] | undefined> {
    const row = await this.db
      .selectFrom('tool_lists')
      .select('tools')
      .where('server_id', '=', serverId)
      .where('config_hash', '=', configHash)
      .executeTakeFirst();
    return row && JSON.parse(row.tools);
  }

  /** Replaces every list of that server. */
  async put(serverId: string, configHash: string, tools: readonly ToolDefinition[]): Promise<void> {
    const row = {
      server_id: serverId,
      config_hash: configHash,
      tools: JSON.stringify(tools),
      listed_at: Date.now(),
    };
    await this.db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('tool_lists').where('server_id', '=', serverId).execute();
      await transaction.insertInto('tool_lists').values(row).execute();
    });
  }
}
