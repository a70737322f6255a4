import { closeSync, fchmodSync, openSync } from 'node:fs';
import { type NativeDatabase, type NativeStatement, sqliteModule } from '@mcpbridge/shared/sqlite-module.js';

export interface SqliteAnswer {
  rows: unknown[];
  changes: number | bigint;
}

/** One open database file. */
export interface SqliteFile {
  /** Carries out one statement; it is compiled at its first use and then only bound anew. */
  run(sql: string, parameters: readonly unknown[]): SqliteAnswer;
  close(): void;
}

/** WAL with NORMAL: a crash of this process loses nothing, one of the machine the last moments. */
const SETTINGS = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -8000;
  PRAGMA temp_store = MEMORY;
`;
/** More distinct queries than this product has; the oldest may go. */
const CACHED_STATEMENTS = 200;

/** Makes empty databases in memory; each goes with whoever holds it. */
export async function memoryDatabases(): Promise<() => MemoryDatabase> {
  const { DatabaseSync } = await sqliteModule();
  return () => new DatabaseSync(':memory:');
}

export type MemoryDatabase = NativeDatabase;

/** Opens a file, and makes it where missing, for this user alone. Its calls block, so it is used in a thread of its own. */
export async function openSqlite(file: string): Promise<SqliteFile> {
  const { DatabaseSync } = await sqliteModule();
  // SQLite gives the -wal and -shm files the mode of the database file, so that one is made first.
  const handle = openSync(file, 'a', 0o600);
  fchmodSync(handle, 0o600);
  closeSync(handle);
  const native = new DatabaseSync(file);
  native.exec(SETTINGS);
  const statements = new Map<string, (parameters: readonly unknown[]) => SqliteAnswer>();
  return {
    run(sql, parameters) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = runner(native.prepare(sql));
        const [oldest] = statements.keys();
        if (oldest !== undefined && statements.size >= CACHED_STATEMENTS) statements.delete(oldest);
        statements.set(sql, statement);
      }
      return statement(parameters);
    },
    close: () => native.close(),
  };
}

function runner(statement: NativeStatement): (parameters: readonly unknown[]) => SqliteAnswer {
  if (statement.columns().length === 0) {
    return (parameters) => ({ rows: [], changes: statement.run(...parameters).changes });
  }
  return (parameters) => ({ rows: statement.all(...parameters), changes: 0 });
}
