import { type AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { Log } from '../../../log.js';
import type { RoomMaker } from './process-places.js';

/** A process that was started and to which nothing has been said. */
export interface Spare {
  close(): Promise<void>;
}

interface SparesOptions<S> {
  /** How many shall wait. */
  count: number;
  log: Log;
  /** Undefined where there is no room for one; rejects when it cannot be started. */
  start(): Promise<S> | undefined;
  /** False when the server takes no calls: then none is kept. */
  isWanted(): boolean;
}

/**
 * Processes of one server that run before a session asks for them. They are started when a connection to the server has
 * succeeded, take only places that are free, and are the first to go when somebody needs one. One that ends by itself is
 * replaced after the next connection that succeeds, and so never in a circle.
 */
export class Spares<S extends Spare> implements RoomMaker {
  private readonly waiting: S[] = [];
  private readonly starting = new Set<Promise<void>>();

  constructor(private readonly options: SparesOptions<S>) {}

  get size(): number {
    return this.waiting.length + this.starting.size;
  }

  fill(): void {
    const { count, start, isWanted } = this.options;
    while (isWanted() && this.size < count) {
      const spare = start();
      if (!spare) return;
      const started = this.keep(spare).finally(() => this.starting.delete(started));
      this.starting.add(started);
    }
  }

  /** The one that has run longest. */
  take(): S | undefined {
    return this.waiting.shift();
  }

  /** It ended by itself. */
  lost(spare: S, reason: AppError): void {
    const at = this.waiting.indexOf(spare);
    if (at === -1) return;
    this.waiting.splice(at, 1);
    this.options.log.warn(`A process that was kept ready ended: ${reason.message}`);
  }

  /** They are nobody's yet, so they go before any connection. */
  idleSince(): number | undefined {
    return this.waiting.length > 0 ? Number.NEGATIVE_INFINITY : undefined;
  }

  async closeIdlest(): Promise<void> {
    await this.take()?.close();
  }

  /** Ends all; where `isWanted` is false by now, none comes after them. */
  async close(): Promise<void> {
    await Promise.all([...this.waiting.splice(0).map((spare) => spare.close()), ...this.starting]);
  }

  private async keep(starting: Promise<S>): Promise<void> {
    try {
      const spare = await starting;
      if (this.options.isWanted()) this.waiting.push(spare);
      else await spare.close();
    } catch (error) {
      // The next session's own start will say so to somebody.
      this.options.log.warn(`No process is kept ready: ${messageOf(error)}`);
    }
  }
}
