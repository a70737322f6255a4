import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

/** Calls that are carried out once, proposals that outlive their asking, and what agents said and did. */
export async function addAgent(db: Kysely<StoreSchema>): Promise<void> {
  await db.schema
    .createTable('kept_calls')
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('record', 'text', (column) => column.notNull())
    .addColumn('outcome', 'text')
    .addPrimaryKeyConstraint('kept_calls_pk', ['session_id', 'call_id'])
    .execute();
  await db.schema
    .createTable('proposals')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('call_id', 'text', (column) => column.notNull())
    .addColumn('principal', 'text', (column) => column.notNull())
    .addColumn('client', 'text')
    .addColumn('server', 'text', (column) => column.notNull())
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('arguments', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'integer', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('note', 'text')
    .addColumn('edited', 'text')
    .addUniqueConstraint('proposals_of_call', ['session_id', 'call_id'])
    .execute();
  await db.schema.createIndex('proposals_by_status').on('proposals').columns(['status']).execute();
  await addConversations(db);
}

async function addConversations(db: Kysely<StoreSchema>): Promise<void> {
  await db.schema
    .createTable('agent_conversations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'integer', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('agent_conversations_by_session')
    .on('agent_conversations')
    .columns(['session_id', 'updated_at'])
    .execute();
  await db.schema
    .createIndex('agent_conversations_by_owner')
    .on('agent_conversations')
    .columns(['owner', 'updated_at'])
    .execute();
  await db.schema
    .createTable('agent_runs')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('conversation_id', 'text', (column) => column.notNull())
    .addColumn('parent', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .execute();
  for (const column of ['conversation_id', 'parent', 'state']) {
    await db.schema.createIndex(`agent_runs_by_${column}`).on('agent_runs').columns([column]).execute();
  }
  await db.schema
    .createTable('agent_entries')
    .addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('conversation_id', 'text', (column) => column.notNull())
    .addColumn('run_id', 'text', (column) => column.notNull())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .execute();
  for (const column of ['conversation_id', 'run_id']) {
    await db.schema
      .createIndex(`agent_entries_by_${column}`)
      .on('agent_entries')
      .columns([column, 'seq'])
      .execute();
  }
}
