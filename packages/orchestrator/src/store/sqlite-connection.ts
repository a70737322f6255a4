import { Worker } from 'node:worker_threads';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { ThreadAnswer, ThreadQuestion } from './sqlite-thread.js';

interface Waiting {
  resolve(answer: ThreadAnswer): void;
  reject(error: Error): void;
}

/**
 * A database file in a thread of its own: what the disk does, and a search through a million calls, hold up no call.
 * The thread keeps the process alive only while something is asked of it.
 */
export class SqliteConnection implements DatabaseConnection {
  private readonly thread: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private ended: Error | undefined;

  constructor(file: string) {
    this.thread = new Worker(new URL('./sqlite-thread.js', import.meta.url), {
      workerData: file,
      // Node 22 calls its SQLite experimental on stderr at every start.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    this.thread.unref();
    this.thread.on('message', (answer: ThreadAnswer) => this.settle(answer));
    this.thread.on('error', (error) => this.end(error));
    this.thread.on('exit', () => this.end(new Error('the thread of the store has ended')));
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, changes } = await this.ask({ sql, parameters });
    // The rows are as typed as the query is; kysely's own drivers trust the database likewise.
    return { rows: rows as Row[], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: the interface wants a generator, and nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('The embedded store does not stream.');
  }

  /** Closes the file after all that was asked before, and waits for the thread: only with it the file is let go of. */
  async close(): Promise<void> {
    if (this.ended) return;
    const exit = new Promise((resolve) => this.thread.once('exit', resolve));
    await this.ask({ parameters: [] });
    this.thread.ref();
    await exit;
  }

  private ask(question: Omit<ThreadQuestion, 'id'>): Promise<ThreadAnswer> {
    if (this.ended) return Promise.reject(this.ended);
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.thread.postMessage({ id, ...question } satisfies ThreadQuestion);
      if (this.waiting.size === 0) this.thread.ref();
      this.waiting.set(id, { resolve, reject });
    });
  }

  private settle(answer: ThreadAnswer): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (this.waiting.size === 0) this.thread.unref();
    if (answer.error === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(answer.error));
  }

  /** The first cause wins; whoever waits hears it. */
  private end(error: Error): void {
    this.ended ??= error;
    for (const waiting of this.waiting.values()) waiting.reject(this.ended);
    this.waiting.clear();
  }
}
