import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { FromJail, JailData, Stream, ToJail } from './jail-messages.js';

/** A process that a jail started and that waits to become its command. */
export interface Jailed {
  pid: number;
  stdout: Readable;
  stderr: Readable;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  go(): void;
  feed(text: string, isLast: boolean): void;
}

interface Running {
  stdout: PulledOutput;
  stderr: PulledOutput;
  onStarted(pid: number): void;
  onFailed(reason: string): void;
  onExited(code: number | null, signal: NodeJS.Signals | null): void;
}

/** One jailed thread, seen from outside. */
export class Jail {
  private readonly running = new Map<number, Running>();
  private count = 0;
  /** Of the last command's end, or of the jail's own start. */
  idleSince = performance.now();

  /** Its thread has ended or is ending, and starts nothing any more. */
  isOver = false;

  private constructor(private readonly thread: Worker) {
    thread.unref();
    thread.on('message', (message: FromJail) => this.hear(message));
    thread.on('error', (error) => this.lost(messageOf(error)));
    thread.on('exit', () => this.lost('its thread ended'));
  }

  /** `watch` answers what its commands ask to connect to. Rejects with SANDBOX_UNAVAILABLE and what did not work. */
  static async open(data: JailData, watch: (listener: number) => Promise<void>): Promise<Jail> {
    const thread = new Worker(new URL('./jail-thread.js', import.meta.url), {
      workerData: data,
      // Nothing of ours is in there but the thread's own code.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64 },
    });
    try {
      const [{ listener }] = (await once(thread, 'message')) as [Extract<FromJail, { kind: 'ready' }>];
      if (listener !== undefined) await watch(listener);
    } catch (cause) {
      await thread.terminate();
      throw unavailable(messageOf(cause), cause);
    }
    return new Jail(thread);
  }

  get isIdle(): boolean {
    return this.running.size === 0;
  }

  /** Rejects with SANDBOX_UNAVAILABLE, also when it is over: its thread answers nobody any more. */
  start(command: Omit<Extract<ToJail, { kind: 'start' }>, 'kind' | 'id'>): Promise<Jailed> {
    if (this.isOver) return Promise.reject(unavailable('its thread has ended'));
    this.count += 1;
    const id = this.count;
    const pull = (stream: Stream) => new PulledOutput(() => this.tell({ kind: 'more', id, stream }));
    const [stdout, stderr] = [pull('stdout'), pull('stderr')];
    return new Promise((resolve, reject) => {
      let onExited: Running['onExited'] = () => undefined;
      const exited: Jailed['exited'] = new Promise((settle) => {
        onExited = (code, signal) => settle({ code, signal });
      });
      this.running.set(id, {
        stdout,
        stderr,
        onExited,
        onStarted: (pid) =>
          resolve({
            pid,
            stdout,
            stderr,
            exited,
            go: () => this.tell({ kind: 'go', id }),
            feed: (text, isLast) => this.tell({ kind: 'feed', id, text, isLast }),
          }),
        onFailed: (reason) => reject(unavailable(reason)),
      });
      this.tell({ kind: 'start', id, ...command });
    });
  }

  async close(): Promise<void> {
    this.isOver = true;
    await this.thread.terminate();
  }

  private tell(message: ToJail): void {
    this.thread.postMessage(message);
  }

  private hear(message: FromJail): void {
    if (message.kind === 'ready') return;
    const running = this.running.get(message.id);
    if (!running) return;
    if (message.kind === 'started') running.onStarted(message.pid);
    else if (message.kind === 'printed') running[message.stream].push(message.chunk);
    else if (message.kind === 'printed-all') running[message.stream].push(null);
    else if (message.kind === 'failed') {
      this.forget(message.id);
      running.onFailed(message.reason);
    } else {
      this.forget(message.id, running);
      running.onExited(message.code, message.signal);
    }
  }

  /** Its output still comes in until both streams are closed. */
  private forget(id: number, running?: Running): void {
    const done = () => {
      this.running.delete(id);
      this.idleSince = performance.now();
    };
    if (!running) done();
    else Promise.all([running.stdout, running.stderr].map((stream) => stream.whenClosed)).then(done, done);
  }

  private lost(reason: string): void {
    this.isOver = true;
    for (const { onFailed, onExited, stdout, stderr } of this.running.values()) {
      onFailed(reason);
      onExited(null, 'SIGKILL');
      stdout.push(null);
      stderr.push(null);
    }
    this.running.clear();
  }
}

/** Asks for each piece when it has been read. */
class PulledOutput extends Readable {
  /** Read to its end, or given up. */
  readonly whenClosed = new Promise<void>((resolve) => this.once('close', resolve));

  constructor(private readonly askForMore: () => void) {
    super();
  }

  override _read(): void {
    this.askForMore();
  }
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('SANDBOX_UNAVAILABLE', `The command could not be jailed: ${reason}.`, { cause });
}
