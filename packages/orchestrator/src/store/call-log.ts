import { messageOf } from '@mcpbridge/shared/errors.js';
import type { Kysely } from 'kysely';
import type { Log } from '../log.js';
import { CallQueries } from './call-queries.js';
import type { CallRecord } from './call-record.js';
import { Numbers } from './numbers.js';
import { RecordBatch } from './record-batch.js';
import type { StoreSchema } from './schema.js';
import type { NumberedBatch, Scribe, WatchedRow } from './scribe.js';

export type { CallOutcome, CallRecord } from './call-record.js';

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
  /** Records that wait for the disk. */
  waiting = 0;
  private batches: RecordBatch[] = [];
  /** The one that takes more. */
  private open: RecordBatch | undefined;
  private spare: RecordBatch | undefined;
  /** Somebody waits for this one and those before it. */
  private asked: RecordBatch | undefined;
  private queuedBytes = 0;
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

  /** True while records are on their way to who watches. */
  get isBusy(): boolean {
    return this.running !== undefined;
  }

  /** Takes a call that has ended; never throws and never waits. */
  add(record: CallRecord): void {
    const bytes = (record.argumentBytes ?? 0) + record.resultBytes;
    const full = this.waiting >= QUEUE_LIMIT || this.queuedBytes + bytes > QUEUE_BYTES;
    if (full || this.closed) {
      this.lose(1);
      if (full) this.complain('The store is slower than the calls; some are not recorded.');
      return;
    }
    this.openBatch().add(record, bytes);
    this.waiting += 1;
    this.queuedBytes += bytes;
    this.schedule(this.pauseMs);
  }

  /** Resolves when all that was added before is stored or could not be; never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.asked = this.batches.at(-1);
    this.running ??= this.drain().then((drained) => {
      this.running = undefined;
      this.watcher?.turn();
      // Asked for when the last batch had just been written.
      if (drained && this.asked) return this.flush();
      const [next] = this.batches;
      // What came meanwhile has waited for a part of its time.
      if (next) this.schedule(drained ? next.since + this.pauseMs - performance.now() : RETRY_AFTER_MS);
    });
    return this.running;
  }

  /** Stores what waits and takes no more; what cannot be stored by then is lost. */
  async close(): Promise<void> {
    this.closed = true;
    await this.flush();
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.waiting > 0) this.log.error(`${this.waiting} records of calls could not be stored.`);
  }

  private get pauseMs(): number {
    return this.watcher ? SHOW_AFTER_MS : FLUSH_AFTER_MS;
  }

  private schedule(afterMs: number): void {
    if (this.running || this.timer) return;
    this.timer = setTimeout(() => void this.flush(), afterMs).unref();
  }

  private openBatch(): RecordBatch {
    if (!this.open || this.open.isFull) {
      this.open = this.spare ?? new RecordBatch();
      this.spare = undefined;
      this.batches.push(this.open);
    }
    return this.open;
  }

  /**
   * Step by step, so that calls are answered between two of them. What comes meanwhile waits for its time, unless it is a
   * whole batch: many small ones cost more. False: the store failed.
   */
  private async drain(): Promise<boolean> {
    for (let batch = this.batches[0]; batch && (this.asked || batch.isFull); batch = this.batches[0]) {
      try {
        const { rows, failure } = await this.scribe.write(this.numbered(batch), this.watcher !== undefined);
        batch.told = true;
        if (rows.length > 0) this.watcher?.ended(rows);
        if (failure !== undefined) throw new Error(failure);
        this.forget(batch);
        this.spare = batch.emptied();
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
      for (const batch of this.batches) {
        if (batch.told) continue;
        const { rows } = await this.scribe.show(this.numbered(batch), this.watcher !== undefined);
        batch.told = true;
        if (rows.length > 0) this.watcher?.ended(rows);
        this.watcher?.turn();
      }
    } catch {
      // The scribe fails too; the next attempt to store starts with it.
    }
  }

  /** Takes no more from here on. */
  private numbered(batch: RecordBatch): NumberedBatch {
    if (this.open === batch) this.open = undefined;
    return Object.assign(batch, { first: batch.first ?? this.numbers.take(batch.count) });
  }

  private forget(batch: RecordBatch): void {
    this.batches.shift();
    if (this.asked === batch) this.asked = undefined;
    this.waiting -= batch.count;
    this.queuedBytes -= batch.weight;
  }

  private afterFailure(error: unknown): void {
    const now = Date.now();
    this.failingSince ??= now;
    this.watcher?.lost();
    if (now - this.failingSince >= GIVE_UP_AFTER_MS) {
      this.lose(this.waiting);
      this.batches = [];
      this.open = this.asked = undefined;
      this.waiting = this.queuedBytes = 0;
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
    this.log.error(what, { waiting: this.waiting, lost: this.lost });
  }
}
