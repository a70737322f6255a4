import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import type { Change, Changes } from '../changes.js';
import type { WorkspaceRoot } from '../root/workspace-root.js';
import { scopeOf } from '../search/scope-of.js';
import type { EmbedderChoice } from './embedder.js';
import type { IndexThreadData, Question } from './index-thread.js';
import type { Processed, Ranked } from './indexer.js';

export interface IndexOptions {
  root: WorkspaceRoot;
  changes: Changes;
  embedder: EmbedderChoice;
  budgetMs?: number;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const BUDGET_MS = 10_000;

/**
 * Finds passages by what they mean. The index is one for the workspace and each question is answered within its guard;
 * files are looked at when somebody asks, so nothing has to be watched. Its thread begins with the first question.
 */
export class SemanticIndex {
  private thread: Worker | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private closed = false;

  constructor(private readonly options: IndexOptions) {
    options.changes.onChange((change) => this.changed(change));
  }

  /** @throws PATH_NOT_ALLOWED, NOT_FOUND */
  async search(guard: Guard, folder: string, query: string, limit: number): Promise<Ranked> {
    const scope = await scopeOf(this.options.root, guard, folder);
    return (await this.ask({ kind: 'search', scope, query, limit })) as Ranked;
  }

  /** Indexes a file as it is, or the given text where there is no file. */
  async process(guard: Guard, given: string, content?: string): Promise<Processed> {
    const path = await this.pathOf(guard, given, content === undefined ? 'read' : 'write');
    const scope = this.whole(guard);
    const question: Question = {
      kind: 'process',
      scope,
      path,
      ...(content === undefined ? {} : { content }),
    };
    return (await this.ask(question)) as Processed;
  }

  async forget(guard: Guard, given: string): Promise<void> {
    const path = await this.pathOf(guard, given, 'write');
    await this.ask({ kind: 'forget', scope: this.whole(guard), path });
  }

  async close(): Promise<void> {
    this.closed = true;
    const { thread } = this;
    if (!thread) return;
    await this.ask({ kind: 'close' }).catch(() => {});
    await thread.terminate();
  }

  /** What is not asked for before is read then. */
  private changed(change: Change): void {
    if (!this.thread || this.closed) return;
    const paths = change.kind === 'moved' ? [change.path, change.from] : [change.path];
    this.ask({ kind: 'changed', root: this.options.root.folder, paths }).catch(() => {});
  }

  private pathOf(guard: Guard, given: string, access: 'read' | 'write'): Promise<string> {
    return this.options.root.at(guard, given, access, async ({ path, stats }) => {
      if (stats && !stats.isFile()) throw new AppError('INVALID_REQUEST', `"${given}" is no file.`);
      return path;
    });
  }

  private whole(guard: Guard) {
    return { root: this.options.root.folder, guard, folder: '' };
  }

  private ask(question: Question): Promise<unknown> {
    if (this.closed && question.kind !== 'close')
      return Promise.reject(new AppError('SHUTTING_DOWN', 'The workspace is ending.'));
    this.thread ??= this.start();
    const thread = this.thread;
    const id = ++this.lastId;
    thread.ref();
    thread.postMessage({ id, question });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  private start(): Worker {
    const { root, embedder, budgetMs = BUDGET_MS } = this.options;
    const workerData: IndexThreadData = { file: join(root.stateFolder, 'index.sqlite'), embedder, budgetMs };
    const thread = new Worker(new URL('./index-thread.js', import.meta.url), {
      workerData,
      // Node 22 calls its SQLite experimental on stderr at every start.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    thread.on('message', ({ id, result, error }: { id: number; result?: unknown; error?: string }) => {
      const waiting = this.waiting.get(id);
      this.waiting.delete(id);
      if (this.waiting.size === 0) thread.unref();
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new AppError('INTERNAL', `The index failed: ${error}`));
    });
    const end = (reason: unknown) => {
      if (this.thread === thread) this.thread = undefined;
      for (const { reject } of this.waiting.values())
        reject(new AppError('INTERNAL', 'The thread of the index has ended.', { cause: reason }));
      this.waiting.clear();
    };
    thread.on('error', end);
    thread.on('exit', end);
    return thread;
  }
}
