import type {
  Conversation,
  ConversationStore,
  Entry,
  EntryContent,
  Run,
  RunState,
} from '@mcpbridge/shared/conversation.js';
import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

/** What agents were told, said and did, in the orchestrator's own database. */
export class SqlConversations implements ConversationStore {
  constructor(private readonly db: Kysely<StoreSchema>) {}

  async saveConversation(conversation: Conversation): Promise<void> {
    const { id, sessionId, owner, updatedAt } = conversation;
    const rest = {
      session_id: sessionId,
      owner,
      updated_at: updatedAt,
      content: JSON.stringify(conversation),
    };
    await this.db
      .insertInto('agent_conversations')
      .values({ id, ...rest })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
      .execute();
  }

  async conversation(id: string): Promise<Conversation | undefined> {
    const row = await this.db
      .selectFrom('agent_conversations')
      .select('content')
      .where('id', '=', id)
      .executeTakeFirst();
    return row && JSON.parse(row.content);
  }

  async conversations(of: { sessionId?: string; owner?: string; limit: number }): Promise<Conversation[]> {
    const { sessionId, owner, limit } = of;
    let query = this.db.selectFrom('agent_conversations').select('content');
    if (sessionId !== undefined) query = query.where('session_id', '=', sessionId);
    if (owner !== undefined) query = query.where('owner', '=', owner);
    const rows = await query.orderBy('updated_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
    return rows.map(({ content }) => JSON.parse(content));
  }

  async saveRun(run: Run): Promise<void> {
    const { id, conversationId, parent = null, state } = run;
    const rest = { conversation_id: conversationId, parent, state, content: JSON.stringify(run) };
    await this.db
      .insertInto('agent_runs')
      .values({ id, ...rest })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
      .execute();
  }

  async run(id: string): Promise<Run | undefined> {
    const row = await this.db
      .selectFrom('agent_runs')
      .select('content')
      .where('id', '=', id)
      .executeTakeFirst();
    return row && JSON.parse(row.content);
  }

  async runs(of: { conversationId?: string; parent?: string; states?: RunState[] }): Promise<Run[]> {
    const { conversationId, parent, states } = of;
    let query = this.db.selectFrom('agent_runs').select('content');
    if (conversationId !== undefined) query = query.where('conversation_id', '=', conversationId);
    if (parent !== undefined) query = query.where('parent', '=', parent);
    if (states !== undefined) query = query.where('state', 'in', states);
    const runs: Run[] = (await query.execute()).map(({ content }) => JSON.parse(content));
    return runs.sort((a, b) => a.startedAt - b.startedAt);
  }

  async append(conversationId: string, runId: string, content: EntryContent): Promise<Entry> {
    const at = Date.now();
    const { seq } = await this.db
      .insertInto('agent_entries')
      .values({ conversation_id: conversationId, run_id: runId, at, content: JSON.stringify(content) })
      .returning('seq')
      .executeTakeFirstOrThrow();
    return { ...content, seq, runId, at };
  }

  async entries(of: { conversationId: string } | { runId: string }): Promise<Entry[]> {
    const query = this.db.selectFrom('agent_entries').select(['seq', 'run_id', 'at', 'content']);
    const rows = await ('runId' in of
      ? query.where('run_id', '=', of.runId)
      : query.where('conversation_id', '=', of.conversationId)
    )
      .orderBy('seq')
      .execute();
    return rows.map(({ seq, run_id: runId, at, content }) => ({ ...JSON.parse(content), seq, runId, at }));
  }
}
