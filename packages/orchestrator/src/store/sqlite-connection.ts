import type { WorkerOptions } from 'node:worker_threads';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { ThreadAnswer, ThreadQuestion } from './sqlite-thread.js';
import { ThreadLink } from './thread-link.js';

/** Options of a thread that opens the file. Node 22 calls its SQLite experimental on stderr at every start. */
export function sqliteThread(file: string): WorkerOptions {
  return { workerData: file, execArgv: ['--disable-warning=ExperimentalWarning'] };
}

/** A database file in a thread of its own: what the disk does, and a search through a million calls, hold up no call. */
export class SqliteConnection implements DatabaseConnection {
  private readonly link: ThreadLink<Omit<ThreadQuestion, 'id'>, ThreadAnswer>;

  constructor(file: string) {
    this.link = new ThreadLink('store', new URL('./sqlite-thread.js', import.meta.url), sqliteThread(file));
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, changes } = await this.link.ask({ sql, parameters });
    // The rows are as typed as the query is; kysely's own drivers trust the database likewise.
    return { rows: rows as Row[], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: the interface wants a generator, and nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('The embedded store does not stream.');
  }

  /** Closes the file after all that was asked before, and waits for the thread: only with it the file is let go of. */
  close(): Promise<void> {
    return this.link.close({ parameters: [] });
  }
}
