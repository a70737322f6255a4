import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

/** Who may come in besides the owner. */
export async function addKeys(db: Kysely<StoreSchema>): Promise<void> {
  await db.schema
    .createTable('keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('admin', 'integer', (column) => column.notNull())
    .addColumn('rights', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'integer')
    .addColumn('last_used_at', 'integer')
    .execute();
}
