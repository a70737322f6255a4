import { Worker } from 'node:worker_threads';
import { AppError } from '@mcpbridge/shared/errors.js';

interface Reply {
  result?: unknown;
  error?: string;
}

interface Waiting {
  take(thread: Worker): void;
  refuse(reason: AppError): void;
}

const IDLE_MS = 30_000;

/**
 * Threads for what takes a processor's time, so that nothing else waits for it; one that takes too long is ended, as
 * an expression that goes back and forth without end can be stopped in no other way.
 */
export class Threads {
  private readonly idle: Worker[] = [];
  private readonly queue: Waiting[] = [];
  private readonly timers = new Map<Worker, NodeJS.Timeout>();
  private count = 0;
  private closed = false;

  constructor(private readonly most = 2) {}

  /** What the thread answers; rejects with CALL_TIMEOUT, or CALL_CANCELLED when the signal says so. */
  async run<Result>(task: unknown, deadline: number, signal: AbortSignal): Promise<Result> {
    const thread = await this.take(signal);
    try {
      return (await this.ask(thread, task, deadline, signal)) as Result;
    } finally {
      this.release(thread);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const waiting of this.queue.splice(0)) waiting.refuse(ending());
    for (const timer of this.timers.values()) clearTimeout(timer);
    await Promise.all(this.idle.splice(0).map((thread) => thread.terminate()));
  }

  private take(signal: AbortSignal): Promise<Worker> {
    if (this.closed) throw ending();
    if (signal.aborted) throw cancelled();
    const free = this.idle.pop();
    if (free) return Promise.resolve(this.use(free));
    if (this.count < this.most) return Promise.resolve(this.start());
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        take: (thread) => {
          signal.removeEventListener('abort', leave);
          resolve(thread);
        },
        refuse: reject,
      };
      const leave = () => {
        const at = this.queue.indexOf(waiting);
        if (at !== -1) this.queue.splice(at, 1);
        reject(cancelled());
      };
      signal.addEventListener('abort', leave, { once: true });
      this.queue.push(waiting);
    });
  }

  private start(): Worker {
    this.count += 1;
    const thread = new Worker(new URL('./search-thread.js', import.meta.url));
    thread.unref();
    thread.once('exit', () => {
      this.count -= 1;
      const at = this.idle.indexOf(thread);
      if (at !== -1) this.idle.splice(at, 1);
    });
    return thread;
  }

  private use(thread: Worker): Worker {
    clearTimeout(this.timers.get(thread));
    this.timers.delete(thread);
    return thread;
  }

  private release(thread: Worker): void {
    // An ended one has no id any more.
    if (thread.threadId === -1) {
      const next = this.queue.shift();
      if (next) next.take(this.start());
      return;
    }
    const next = this.queue.shift();
    if (next) next.take(thread);
    else if (this.closed) void thread.terminate();
    else this.rest(thread);
  }

  private rest(thread: Worker): void {
    this.idle.push(thread);
    const timer = setTimeout(() => {
      this.timers.delete(thread);
      const at = this.idle.indexOf(thread);
      if (at !== -1) this.idle.splice(at, 1);
      void thread.terminate();
    }, IDLE_MS);
    this.timers.set(thread, timer.unref());
  }

  private ask(thread: Worker, task: unknown, deadline: number, signal: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const onMessage = ({ result, error }: Reply) =>
        settle(() => (error === undefined ? resolve(result) : reject(new AppError('INTERNAL', error))));
      const onError = (error: Error) => settle(() => reject(error));
      const onExit = () =>
        settle(() => reject(new AppError('INTERNAL', 'The thread of a search has ended.')));
      const onAbort = () => end(cancelled());
      const timer = setTimeout(() => end(late()), Math.max(0, deadline - Date.now()));
      thread.on('message', onMessage).on('error', onError).on('exit', onExit);
      signal.addEventListener('abort', onAbort, { once: true });
      thread.ref();
      thread.postMessage(task);

      function settle(how: () => void): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        thread.off('message', onMessage).off('error', onError).off('exit', onExit);
        thread.unref();
        how();
      }
      function end(reason: AppError): void {
        settle(() => void thread.terminate().then(() => reject(reason)));
      }
    });
  }
}

function cancelled(): AppError {
  return new AppError('CALL_CANCELLED', 'The caller went away.');
}

function ending(): AppError {
  return new AppError('SHUTTING_DOWN', 'The workspace is ending.');
}

export function late(): AppError {
  return new AppError(
    'CALL_TIMEOUT',
    'The search took too long and was ended; look through fewer files (folder, glob), or make the expression simpler.',
  );
}
