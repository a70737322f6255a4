import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { SqliteConnection } from './sqlite-connection.js';

/** kysely's SQLite, with the database file in a thread of its own. */
export function sqliteDialect(file: string): Dialect {
  return {
    createDriver: () => new SqliteThreadDriver(file),
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
  };
}

/** One connection, lent to one user at a time, so that nobody's query slips into another's transaction. */
class SqliteThreadDriver implements Driver {
  private connection: SqliteConnection | undefined;
  private lastUser: Promise<void> = Promise.resolve();
  private free: () => void = () => {};

  constructor(private readonly file: string) {}

  async init(): Promise<void> {
    this.connection = new SqliteConnection(this.file);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const { connection, lastUser } = this;
    if (!connection) throw new Error('the store is closed');
    let free = () => {};
    this.lastUser = new Promise((resolve) => (free = resolve));
    await lastUser;
    this.free = free;
    return connection;
  }

  async releaseConnection(): Promise<void> {
    this.free();
  }

  /** `immediate`, since every transaction here writes: it then waits for another process instead of failing later. */
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async destroy(): Promise<void> {
    await this.connection?.close();
    this.connection = undefined;
  }
}
