import { messageOf } from '@mcpbridge/shared/errors.js';
import type { Kysely } from 'kysely';
import type { Log } from '../log.js';
import { type CallFilter, type CallPage, findCall, listCalls } from './call-queries.js';
import type { CallRecord, StoredCall } from './call-record.js';
import { CallWriter } from './call-writer.js';
import type { StoreSchema } from './schema.js';

export type { CallFilter, CallPage } from './call-queries.js';
export type { CallOutcome, CallRecord, CallSummary, StoredCall } from './call-record.js';

/** Records that wait for the disk at most; more are lost, and counted. */
const QUEUE_LIMIT = 50_000;
/** Bytes of arguments that wait at most, as far as callers tell them. */
const QUEUE_BYTES = 128 * 1024 * 1024;
const FLUSH_AFTER_MS = 100;
const RETRY_AFTER_MS = 1000;
/** Records that could not be stored for so long are given up. */
const GIVE_UP_AFTER_MS = 30_000;
const COMPLAIN_EVERY_MS = 60_000;

/** Every call, for good. Adding costs a call next to nothing, and no trouble of the disk ever reaches it. */
export class CallLog {
  /** Records that were not stored, since the start. */
  lost = 0;
  private queue: CallRecord[] = [];
  private queuedBytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private failingSince: number | undefined;
  private closed = false;
  private complainedAt = Number.NEGATIVE_INFINITY;
  private readonly writer: CallWriter;

  constructor(
    private readonly db: Kysely<StoreSchema>,
    private readonly log: Log,
  ) {
    this.writer = new CallWriter(db);
  }

  /** Takes a call that has ended; never throws and never waits. */
  add(record: CallRecord): void {
    const bytes = record.argumentBytes ?? 0;
    const full = this.queue.length >= QUEUE_LIMIT || this.queuedBytes + bytes > QUEUE_BYTES;
    if (full || this.closed) {
      this.lost += 1;
      if (full) this.complain('The store is slower than the calls; some are not recorded.');
      return;
    }
    this.queue.push(record);
    this.queuedBytes += bytes;
    this.schedule(FLUSH_AFTER_MS);
  }

  /** Resolves when all that was added is stored or could not be; never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.running ??= this.drain().then((drained) => {
      this.running = undefined;
      if (this.queue.length > 0) this.schedule(drained ? FLUSH_AFTER_MS : RETRY_AFTER_MS);
    });
    return this.running;
  }

  /** Newest first, with what was added a moment ago. */
  async list(filter: CallFilter): Promise<CallPage> {
    await this.flush();
    return listCalls(this.db, filter);
  }

  async get(id: string): Promise<StoredCall | undefined> {
    await this.flush();
    return findCall(this.db, id);
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
      try {
        this.forget(await this.writer.write(this.queue));
        this.failingSince = undefined;
      } catch (error) {
        this.afterFailure(error);
        return false;
      }
      await new Promise((next) => setImmediate(next));
    }
    return true;
  }

  private forget(count: number): void {
    for (const record of this.queue.splice(0, count)) this.queuedBytes -= record.argumentBytes ?? 0;
  }

  private afterFailure(error: unknown): void {
    const now = Date.now();
    this.failingSince ??= now;
    if (now - this.failingSince >= GIVE_UP_AFTER_MS) {
      this.lost += this.queue.length;
      this.forget(this.queue.length);
      this.failingSince = undefined;
    }
    this.complain(`The store takes no records of calls: ${messageOf(error)}.`);
  }

  private complain(what: string): void {
    if (Date.now() - this.complainedAt < COMPLAIN_EVERY_MS) return;
    this.complainedAt = Date.now();
    this.log.error(what, { waiting: this.queue.length, lost: this.lost });
  }
}
