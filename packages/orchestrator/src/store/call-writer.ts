import { messageOf } from '@mcpbridge/shared/errors.js';
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { CALL_COLUMNS, type CallRecord, toValues } from './call-record.js';
import type { StoreSchema } from './schema.js';

/** Rows of one statement: many share its costs, and other queries wait for it. */
const BATCH = 2048;

/**
 * Writes records as one JSON text a batch: a text goes to the store's thread for next to nothing, while thousands of
 * parameters would be copied one by one on the thread that answers calls.
 */
export class CallWriter {
  private readonly insert: CompiledQuery;

  constructor(private readonly db: Kysely<StoreSchema>) {
    this.insert = compileInsert(db);
  }

  /** Stores a batch from the front of the records and answers its size; when it rejects, nothing was stored. */
  async write(records: readonly CallRecord[]): Promise<number> {
    const batch = records.slice(0, BATCH);
    const rows = `[${batch.map(rowOf).join()}]`;
    await this.db.executeQuery({ ...this.insert, parameters: [rows] });
    return batch.length;
  }
}

/** What cannot be written as JSON must not keep its neighbours from the disk. */
function rowOf(record: CallRecord): string {
  try {
    return JSON.stringify(toValues(record));
  } catch (error) {
    return JSON.stringify(toValues({ ...record, arguments: `[not JSON: ${messageOf(error)}]` }));
  }
}

/** A record that is already stored stays as it is, so writing a batch again does no harm. */
function compileInsert(db: Kysely<StoreSchema>): CompiledQuery {
  const columns = sql.join(CALL_COLUMNS.map((column) => sql.ref(column)));
  const values = sql.join(CALL_COLUMNS.map((_, index) => sql`value ->> ${sql.lit(index)}`));
  return sql`insert into calls (${columns})
    select ${values} from json_each(${''}) where true
    on conflict (id) do nothing`.compile(db);
}
