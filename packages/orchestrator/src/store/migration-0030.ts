import type { Kysely } from 'kysely';
import type { StoreSchema } from './schema.js';

/**
 * Every index is written with every call. The index of the statistics holds server and tool as well, in the order of
 * time: looking through it for a rare one takes 55 ms of a million calls.
 */
export async function dropCallIndexes(db: Kysely<StoreSchema>): Promise<void> {
  for (const filter of ['server', 'tool'])
    await db.schema.dropIndex(`calls_by_${filter}_and_started_at`).ifExists().execute();
}
