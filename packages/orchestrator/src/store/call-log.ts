import { messageOf } from '@mcpbridge/shared/errors.js';
import type { Kysely } from 'kysely';
import type { Log } from '../log.js';
import { CallQueries } from './call-queries.js';
import type { CallRecord } from './call-record.js';
import { Numbers } from './numbers.js';
import type { StoreSchema } from './schema.js';
import type { NumberedRecord, QueuedRecord, Scribe, WatchedRow } from './scribe.js';

export type { CallOutcome, CallRecord } from './call-record.js';

/** Records of one transaction: many share its costs, and other writers wait for it. */
const BATCH = 2048;
/** Records that wait for the disk at most; more are lost, and counted. */
const QUEUE_LIMIT = 50_000;
/** Bytes of arguments and results that wait at most, as far as they are known. */
const QUEUE_BYTES = 128 * 1024 * 1024;
const FLUSH_AFTER_MS = 100;
/** While somebody watches. */
const SHOW_AFTER_MS = 20;
const RETRY_AFTER_MS = 1000;
/** Records that could not be stored for so long are given up. */
const GIVE_UP_AFTER_MS = 30_000;
const COMPLAIN_EVERY_MS = 60_000;

/** Who hears of the calls in the order of their numbers. */
export interface CallWatcher {
  ended(rows: WatchedRow[]): void;
  /** Nothing is on its way: what else happened may be numbered now. */
  turn(): void;
  /** The count of lost records is another. */
  lost(): void;
}

/** Every call, for good. Adding costs a call next to nothing, and no trouble of the disk ever reaches it. */
export class CallLog {
  /** Records that were not stored, since the start. */
  lost = 0;
  readonly numbers = new Numbers();
  readonly queries: CallQueries;
  /** Set while somebody watches. */
  watcher: CallWatcher | undefined;
  private queue: QueuedRecord[] = [];
  private queuedBytes = 0;
  /** Records at the front of the queue that were counted and shown, and wait for the disk. */
  private told = 0;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private failingSince: number | undefined;
  private closed = false;
  private complainedAt = Number.NEGATIVE_INFINITY;

  constructor(
    reader: () => Kysely<StoreSchema>,
    private readonly scribe: Scribe,
    private readonly log: Log,
  ) {
    this.queries = new CallQueries(reader, () => this.flush());
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** True while records are on their way to who watches. */
  get isBusy(): boolean {
    return this.running !== undefined;
  }

  /** Takes a call that has ended; never throws and never waits. */
  add(record: CallRecord): void {
    const bytes = (record.argumentBytes ?? 0) + record.resultBytes;
    const full = this.queue.length >= QUEUE_LIMIT || this.queuedBytes + bytes > QUEUE_BYTES;
    if (full || this.closed) {
      this.lose(1);
      if (full) this.complain('The store is slower than the calls; some are not recorded.');
      return;
    }
    this.queue.push(this.scribe.take(record, bytes));
    this.queuedBytes += bytes;
    this.schedule(this.watcher ? SHOW_AFTER_MS : FLUSH_AFTER_MS);
  }

  /** Resolves when all that was added is stored or could not be; never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.running ??= this.drain().then((drained) => {
      this.running = undefined;
      this.watcher?.turn();
      if (this.queue.length > 0) this.schedule(drained ? FLUSH_AFTER_MS : RETRY_AFTER_MS);
    });
    return this.running;
  }

  /** Stores what waits and takes no more; what cannot be stored by then is lost. */
  async close(): Promise<void> {
    this.closed = true;
    await this.flush();
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.queue.length > 0) this.log.error(`${this.queue.length} records of calls could not be stored.`);
  }

  private schedule(afterMs: number): void {
    if (this.running || this.timer) return;
    this.timer = setTimeout(() => void this.flush(), afterMs).unref();
  }

  /** Step by step, so that calls are answered between two of them. False: the store failed. */
  private async drain(): Promise<boolean> {
    while (this.queue.length > 0) {
      const batch = this.numbered(0);
      try {
        const { rows, failure } = await this.scribe.write(batch, this.told, this.watcher !== undefined);
        this.told = Math.max(this.told, batch.length);
        if (rows.length > 0) this.watcher?.ended(rows);
        if (failure !== undefined) throw new Error(failure);
        this.forget(batch.length);
        this.failingSince = undefined;
      } catch (error) {
        await this.tellRest();
        this.afterFailure(error);
        return false;
      }
      this.watcher?.turn();
      await new Promise((next) => setImmediate(next));
    }
    return true;
  }

  /** What waits for the disk is counted and shown all the same. */
  private async tellRest(): Promise<void> {
    try {
      while (this.told < this.queue.length) {
        const batch = this.numbered(this.told);
        const { rows } = await this.scribe.show(batch, this.watcher !== undefined);
        this.told += batch.length;
        if (rows.length > 0) this.watcher?.ended(rows);
        this.watcher?.turn();
      }
    } catch {
      // The scribe fails too; the next attempt to store starts with it.
    }
  }

  private numbered(from: number): NumberedRecord[] {
    return this.queue.slice(from, from + BATCH).map((record) => {
      record.seq ??= this.numbers.next();
      return record as NumberedRecord;
    });
  }

  private forget(count: number): void {
    for (const { bytes } of this.queue.splice(0, count)) this.queuedBytes -= bytes;
    this.told = Math.max(0, this.told - count);
  }

  private afterFailure(error: unknown): void {
    const now = Date.now();
    this.failingSince ??= now;
    this.watcher?.lost();
    if (now - this.failingSince >= GIVE_UP_AFTER_MS) {
      this.lose(this.queue.length);
      this.forget(this.queue.length);
      this.failingSince = undefined;
    }
    this.complain(`The store takes no records of calls: ${messageOf(error)}.`);
  }

  private lose(count: number): void {
    this.lost += count;
    this.watcher?.lost();
  }

  private complain(what: string): void {
    if (Date.now() - this.complainedAt < COMPLAIN_EVERY_MS) return;
    this.complainedAt = Date.now();
    this.log.error(what, { waiting: this.queue.length, lost: this.lost });
  }
}
