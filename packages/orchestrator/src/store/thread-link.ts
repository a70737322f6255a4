import { Worker, type WorkerOptions } from 'node:worker_threads';

interface Answer {
  id: number;
  error?: string;
}

interface Waiting<A> {
  resolve(answer: A): void;
  reject(error: Error): void;
}

/** Questions to a thread and its answers. The thread keeps the process alive only while something is asked of it. */
export class ThreadLink<Q extends object, A extends Answer> {
  private readonly thread: Worker;
  private readonly waiting = new Map<number, Waiting<A>>();
  private lastId = 0;
  private ended: Error | undefined;

  constructor(name: string, file: URL, options: WorkerOptions = {}) {
    this.thread = new Worker(file, options);
    this.thread.unref();
    this.thread.on('message', (answer: A) => this.settle(answer));
    this.thread.on('error', (error) => this.end(error));
    this.thread.on('exit', () => this.end(new Error(`the thread of the ${name} has ended`)));
  }

  get isOver(): boolean {
    return this.ended !== undefined;
  }

  /** `transfer`: memory of the question that goes over to the thread, and is gone here. */
  ask(question: Q, transfer: ArrayBuffer[] = []): Promise<A> {
    if (this.ended) return Promise.reject(this.ended);
    this.lastId += 1;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      this.thread.postMessage({ id, ...question }, transfer);
      if (this.waiting.size === 0) this.thread.ref();
      this.waiting.set(id, { resolve, reject });
    });
  }

  /** Sends the last question, after which the thread ends by itself, and waits for that. */
  async close(last: Q): Promise<void> {
    if (this.ended) return;
    const exit = new Promise((resolve) => this.thread.once('exit', resolve));
    await this.ask(last);
    this.thread.ref();
    await exit;
  }

  private settle(answer: A): void {
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
