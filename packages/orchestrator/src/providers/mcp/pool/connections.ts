import { setImmediate as nextTurn } from 'node:timers/promises';
import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Caller } from '../../provider.js';
import { abortReason, orAborted } from '../abort.js';
import type { Connection } from '../connection/connection.js';
import type { Routing } from '../connection/routing.js';
import type { SessionMemory } from '../connection/session-memory.js';
import { Breaker, type Failure } from '../health/breaker.js';
import type { RoomMaker } from './process-places.js';

/** The key of the connection that belongs to nobody: for listing, and for all sessions of a shared server. */
export const COMMON = '';

interface Slot {
  readonly key: string;
  /** Whose session, or whose connection, it is. */
  owner?: string | undefined;
  readonly memory: SessionMemory;
  connection?: Connection | undefined;
  /** Twenty first calls wait for one connect. */
  opening?: Opening | undefined;
  idle?: NodeJS.Timeout;
  /** Aborted when its session is over: it ends a connect under way. */
  readonly over: Cancel;
}

interface Opening {
  connection: Promise<Connection>;
  waiting: number;
  readonly queue: Queue;
  readonly leaveQueue: Cancel;
}

/** What a start may have to go through first: the wait for a place among all processes. */
export interface Queue {
  /** Aborted when nobody wants the place any more. */
  readonly signal: CancelSignal;
  /** While it waits: what to tell a call that has no more time for it. */
  noRoom: ((late: AppError) => AppError) | undefined;
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
    queue: Queue,
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

  allReady(): Connection[] {
    return [...this.slots.values()].flatMap(({ connection }) => connection ?? []);
  }

  /** What the session told the server, also before its connection is open. */
  memory(key: string): SessionMemory {
    return this.slotOf(key).memory;
  }

  /** What all sessions told, also those whose connection is not open. */
  allMemories(): SessionMemory[] {
    return [...this.slots.values()].map(({ memory }) => memory);
  }

  /** How many are open or being opened. */
  get inUse(): number {
    let count = 0;
    for (const slot of this.slots.values()) if (slot.connection || slot.opening) count += 1;
    return count;
  }

  /** Opens it when there is none. An abort ends the wait, not the connect, for which others may wait too. */
  get(key: string, caller: Caller | undefined, signal?: CancelSignal): Promise<Connection> {
    const slot = this.slotOf(key);
    if (slot.connection) return Promise.resolve(slot.connection);
    slot.opening ??= this.startOpening(slot, caller);
    return this.wait(slot, slot.opening, signal);
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
    await this.renew(() => true);
    if (this.outgoing.size === 0) return;
    await new Promise<void>((resolve) => {
      this.whenAllGone = resolve;
    });
  }

  /** Those of that owner end as soon as nothing runs on them; the next use opens others. */
  async renew(isWhose: (owner: string | undefined) => boolean): Promise<void> {
    const slots = [...this.slots.values()].filter((slot) => isWhose(slot.owner));
    await Promise.all(slots.map((slot) => this.letGo(slot)));
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
    await slot.opening?.connection.catch(() => {
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
      slot = {
        key,
        memory: { logLevel: undefined, levels: new Map(), subscriptions: new Map(), users: new Map() },
        over: new Cancel(),
      };
      this.slots.set(key, slot);
    }
    return slot;
  }

  private startOpening(slot: Slot, caller: Caller | undefined): Opening {
    slot.owner = caller?.owner;
    const leaveQueue = new Cancel();
    const queue: Queue = { signal: leaveQueue.signal, noRoom: undefined };
    const onOver = () => leaveQueue.abort(slot.over.reason);
    slot.over.signal.addEventListener('abort', onOver);
    const connection = this.open(slot, caller, queue).finally(() => {
      slot.over.signal.removeEventListener('abort', onOver);
      if (slot.opening === opening) slot.opening = undefined;
    });
    // Whoever still waits for it hears of its failure.
    connection.catch(() => undefined);
    const opening: Opening = { connection, waiting: 0, queue, leaveQueue };
    return opening;
  }

  private async wait(slot: Slot, opening: Opening, signal: CancelSignal | undefined): Promise<Connection> {
    const { connection, queue } = opening;
    opening.waiting += 1;
    try {
      return await (signal ? orAborted(connection, signal) : connection);
    } catch (error) {
      const isLate = error instanceof AppError && error.code === 'CALL_TIMEOUT';
      throw isLate && queue.noRoom ? queue.noRoom(error) : error;
    } finally {
      opening.waiting -= 1;
      if (opening.waiting === 0 && queue.noRoom) this.leaveQueue(slot, opening);
    }
  }

  /** Nobody waits any more; who comes next begins anew. */
  private leaveQueue(slot: Slot, opening: Opening): void {
    if (slot.opening === opening) slot.opening = undefined;
    opening.leaveQueue.abort(new AppError('CALL_CANCELLED', 'Nobody waits for it any more.'));
  }

  private async open(slot: Slot, caller: Caller | undefined, queue: Queue): Promise<Connection> {
    this.makeRoom();
    const { key, memory, over } = slot;
    const connect = () => this.options.connect(key, caller, memory, over.signal, queue);
    const connection = await this.breaker.run(connect, over.signal);
    slot.connection = connection;
    // Whoever ended the session closes what is there now.
    if (over.signal.aborted) throw abortReason(over.signal);
    this.watchIdle(slot, this.options.idleTimeoutMs);
    return connection;
  }

  private makeRoom(): void {
    const { server, maxConnections } = this.options;
    if (this.inUse < maxConnections) return;
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
    await slot.opening?.connection.catch(() => {
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
