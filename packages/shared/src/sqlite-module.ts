export interface NativeStatement {
  all(...parameters: unknown[]): unknown[];
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  columns(): unknown[];
}

/** One open database; its calls block. */
export interface NativeDatabase {
  exec(sql: string): void;
  prepare(sql: string): NativeStatement;
  close(): void;
}

/** The part of `node:sqlite` that is used here; `@photostructure/sqlite` has the same. */
interface SqliteModule {
  DatabaseSync: new (file: string) => NativeDatabase;
}

/** Node's own where it comes without a flag (>= 22.13) and knows a statement's columns, else its drop-in. */
export async function sqliteModule(): Promise<SqliteModule> {
  const builtin = process.getBuiltinModule('node:sqlite');
  return builtin && isSqliteModule(builtin) ? builtin : import('@photostructure/sqlite');
}

function isSqliteModule(module: object): module is SqliteModule {
  return (
    'DatabaseSync' in module &&
    'StatementSync' in module &&
    typeof module.StatementSync === 'function' &&
    'columns' in module.StatementSync.prototype
  );
}
