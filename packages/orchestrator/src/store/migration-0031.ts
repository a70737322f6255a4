import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

/** What configurations name as `${secret:NAME}`. */
export async function addSecrets(db: Kysely<StoreSchema>): Promise<void> {
  await db.schema
    .createTable('secrets')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'integer', (column) => column.notNull())
    .execute();
}
