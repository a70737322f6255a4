import { messageOf } from '@mcpbridge/shared/errors.js';
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import { CALL_COLUMNS, type CallRecord, toValues } from './call-record.js';
import type { StoreSchema } from './schema.js';

/** Rows of the statements that are kept compiled; the first is also what one step of the main thread makes ready. */
const SIZES = [64, 8, 1] as const;
/** Rows of one transaction: many share its costs, and other queries wait for it. */
const BATCH = 2048;

/** Writes records with statements that are compiled once. */
export class CallWriter {
  private readonly inserts: readonly { size: number; query: CompiledQuery }[];

  constructor(private readonly db: Kysely<StoreSchema>) {
    this.inserts = SIZES.map((size) => ({ size, query: compileInsert(db, size) }));
  }

  /** Stores a batch from the front of the records and answers its size; when it rejects, nothing was stored. */
  write(records: readonly CallRecord[]): Promise<number> {
    const end = Math.min(records.length, BATCH);
    return this.db.transaction().execute(async (transaction) => {
      for (let written = 0; written < end; ) {
        const insert = this.inserts.find(({ size }) => size <= end - written);
        if (!insert) break;
        const parameters: unknown[] = [];
        for (const record of records.slice(written, written + insert.size))
          parameters.push(...valuesOf(record));
        await transaction.executeQuery({ ...insert.query, parameters });
        written += insert.size;
      }
      return end;
    });
  }
}

/** What cannot be written as JSON must not keep its neighbours from the disk. */
function valuesOf(record: CallRecord): unknown[] {
  try {
    return toValues(record);
  } catch (error) {
    return toValues({ ...record, arguments: `[not JSON: ${messageOf(error)}]` });
  }
}

/** A record that is already stored stays as it is, so writing a batch again does no harm. */
function compileInsert(db: Kysely<StoreSchema>, rows: number): CompiledQuery {
  const values = sql.join(CALL_COLUMNS.map(() => sql`${null}`));
  return sql`insert into calls (${sql.join(CALL_COLUMNS.map((column) => sql.ref(column)))})
    values ${sql.join(Array.from({ length: rows }, () => sql`(${values})`))}
    on conflict (id) do nothing`.compile(db);
}
