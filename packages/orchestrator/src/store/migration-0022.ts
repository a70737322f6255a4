import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

/** What persons have decided outlives the process in which they did. */
export async function addDecisions(db: Kysely<StoreSchema>): Promise<void> {
  await db.schema
    .createTable('decisions')
    .addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('decisions_by_state_and_seq')
    .on('decisions')
    .columns(['state', 'seq'])
    .execute();
  await db.schema
    .createTable('remembered_approvals')
    .addColumn('session_id', 'text', (column) => column.notNull())
    .addColumn('covers', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('remembered_approvals_pk', ['session_id', 'covers'])
    .execute();
  await db.schema
    .createTable('blocked_tools')
    .addColumn('server', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('blocked_tools_pk', ['server', 'hash'])
    .execute();
}
