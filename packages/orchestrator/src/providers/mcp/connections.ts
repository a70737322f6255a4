import { setImmediate as nextTurn } from 'node:timers/promises';
import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Caller } from '../provider.js';
import { abortReason, orAborted } from './abort.js';
import { Breaker, type Failure } from './breaker.js';
import type { Connection } from './connection.js';
import type { RoomMaker } from './process-places.js';
import type { Routing } from './routing.js';
import type { SessionMemory } from './session-memory.js';

/** The key of the connection that belongs to nobody: for listing, and for all sessions of a shared server. */
export const COMMON = '';

interface Slot {
  readonly key: string;
  readonly memory: SessionMemory;
  connection?: Connection | undefined;
  /** Twenty first calls wait for one connect. */
  opening?: Promise<Connection> | undefined;
  idle?: NodeJS.Timeout;
  /** Aborted when its session is over: it ends a connect under way. */
  readonly over: Cancel;
}

interface PoolOptions {
  server: string;
  idleTimeoutMs: number;
  maxConnections: number;
  connect(
    key: string,
    caller: Caller | undefined,
    memory: SessionMemory,
    over: CancelSignal,
  ): Promise<Connection>;
  /** A connection that shall stay although nothing uses it. */
  mustStay(key: string, connection: Connection): boolean;
}

/** The connections to one server: at most one a session, opened at the first use and closed when idle. */
export class Connections implements RoomMaker {
  private readonly slots = new Map<string, Slot>();
  private readonly breaker = new Breaker();
  private readonly leaving = new Set<Promise<void>>();
  /** They take nothing new, and end when what runs on them has ended. */
  private readonly outgoing = new Map<Routing, Connection>();
  private whenAllGone: (() => void) | undefined;

  constructor(private readonly options: PoolOptions) {}

  get failure(): Failure | undefined {
    return this.breaker.failure;
  }

  /** The next attempt is made at once, whatever failed before. */
  forgive(): void {
    this.breaker.reset();
  }

  /** The open connection, without a wait: the way of nearly every call. */
  ready(key: string): Connection | undefined {
    return this.slots.get(key)?.connection;
  }

  /** What the session told the server, also before its connection is open. */
  memory(key: string): SessionMemory {
    return this.slotOf(key).memory;
  }

  /** Opens it when there is none. An abort ends the wait, not the connect, for which others may wait too. */
  get(key: string, caller: Caller | undefined, signal?: CancelSignal): Promise<Connection> {
    const slot = this.slotOf(key);
    if (slot.connection) return Promise.resolve(slot.connection);
    slot.opening ??= this.open(slot, caller).finally(() => {
      slot.opening = undefined;
    });
    return signal ? orAborted(slot.opening, signal) : slot.opening;
  }

  /** It takes no new requests; the next use opens another. False when it was not in use any more. */
  forget(routing: Routing): boolean {
    for (const slot of this.slots.values()) {
      if (slot.connection?.routing !== routing) continue;
      this.outgoing.set(routing, slot.connection);
      this.clear(slot);
      return true;
    }
    return false;
  }

  /** It is closed. */
  gone(routing: Routing): void {
    this.outgoing.delete(routing);
    if (this.outgoing.size === 0) this.whenAllGone?.();
  }

  /** All connections end as soon as nothing runs on them; resolves when the last one has. */
  async retire(): Promise<void> {
    await Promise.all([...this.slots.values()].map((slot) => this.letGo(slot)));
    if (this.outgoing.size === 0) return;
    await new Promise<void>((resolve) => {
      this.whenAllGone = resolve;
    });
  }

  idleSince(): number | undefined {
    return this.idlest((slot) => this.mayClose(slot))?.connection?.lastUsed;
  }

  async closeIdlest(): Promise<void> {
    const slot = this.idlest((candidate) => this.mayClose(candidate));
    if (slot) await this.closeIdle(slot);
  }

  async end(key: string, reason: AppError): Promise<void> {
    const slot = this.slots.get(key);
    if (!slot) return;
    this.slots.delete(key);
    slot.over.abort(reason);
    await slot.opening?.catch(() => {
      // Whoever asked for it hears of the failure.
    });
    const connection = this.clear(slot);
    if (connection) await this.leave(connection.close(reason));
  }

  /** Ends all, and waits for those that were already leaving. */
  async endAll(reason: AppError): Promise<void> {
    await Promise.all([...this.slots.keys()].map((key) => this.end(key, reason)));
    for (const connection of this.outgoing.values()) void this.leave(connection.close(reason));
    await Promise.all(this.leaving);
    this.breaker.reset();
  }

  /** Something is on its way out; the end of all waits for it. */
  leave(ended: Promise<void>): Promise<void> {
    this.leaving.add(ended);
    return ended.finally(() => this.leaving.delete(ended));
  }

  private slotOf(key: string): Slot {
    let slot = this.slots.get(key);
    if (!slot) {
      slot = { key, memory: { logLevel: undefined, subscriptions: new Set() }, over: new Cancel() };
      this.slots.set(key, slot);
    }
    return slot;
  }

  private async open(slot: Slot, caller: Caller | undefined): Promise<Connection> {
    this.makeRoom();
    const { key, memory, over } = slot;
    const connect = () => this.options.connect(key, caller, memory, over.signal);
    const connection = await this.breaker.run(connect, over.signal);
    slot.connection = connection;
    // Whoever ended the session closes what is there now.
    if (over.signal.aborted) throw abortReason(over.signal);
    this.watchIdle(slot, this.options.idleTimeoutMs);
    return connection;
  }

  private makeRoom(): void {
    const { server, maxConnections } = this.options;
    const inUse = [...this.slots.values()].filter((slot) => slot.connection || slot.opening);
    if (inUse.length < maxConnections) return;
    const oldest = this.idlest(({ key }) => key !== COMMON);
    if (!oldest) {
      throw new AppError(
        'PROVIDER_UNAVAILABLE',
        `Server "${server}" has all of its ${maxConnections} connections in use; try again when a call has ended.`,
      );
    }
    void this.closeIdle(oldest);
  }

  private mayClose({ key, connection }: Slot): boolean {
    return connection !== undefined && !this.options.mustStay(key, connection);
  }

  private idlest(fits: (slot: Slot) => boolean): Slot | undefined {
    return [...this.slots.values()]
      .filter((slot) => slot.connection?.isIdle && fits(slot))
      .sort((a, b) => (a.connection?.lastUsed ?? 0) - (b.connection?.lastUsed ?? 0))[0];
  }

  private async letGo(slot: Slot): Promise<void> {
    await slot.opening?.catch(() => {
      // Whoever asked for it hears of the failure.
    });
    // Whoever waited for it gets to use it.
    await nextTurn();
    slot.connection?.peer.spent();
  }

  /** One timer a connection, set anew only when it fires: a call costs no timer. */
  private watchIdle(slot: Slot, ms: number): void {
    if (this.options.idleTimeoutMs <= 0) return;
    slot.idle = setTimeout(() => {
      const { connection } = slot;
      if (!connection) return;
      const left = connection.lastUsed + this.options.idleTimeoutMs - performance.now();
      const stays = !connection.isIdle || this.options.mustStay(slot.key, connection);
      if (stays || left > 0) this.watchIdle(slot, stays ? this.options.idleTimeoutMs : left);
      else void this.closeIdle(slot);
    }, ms).unref();
  }

  private async closeIdle(slot: Slot): Promise<void> {
    const connection = this.clear(slot);
    if (connection) await this.leave(connection.close(new AppError('CALL_CANCELLED', 'It was not in use.')));
  }

  private clear(slot: Slot): Connection | undefined {
    const { connection } = slot;
    clearTimeout(slot.idle);
    slot.connection = undefined;
    return connection;
  }
}
