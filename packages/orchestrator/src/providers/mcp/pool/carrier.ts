import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { ServerEntry } from '../../../config/server-entry.js';
import type { Caller } from '../../provider.js';
import type { Connection } from '../connection/connection.js';
import type { Condition } from '../health/condition.js';
import type { Liveness } from '../health/liveness.js';
import { COMMON, type Connections } from './connections.js';
import { lostDuring } from './repeats.js';

/** Takes requests to the connection of whoever makes them, which is opened if need be. */
export class Carrier {
  constructor(
    private readonly entry: ServerEntry,
    private readonly pool: Connections,
    private readonly liveness: Liveness,
    private readonly condition: Condition,
  ) {}

  /**
   * One more try where nothing can happen twice: the request provably never started and its connection is gone,
   * or the answer was lost of one that may be repeated.
   */
  async carry<T>(
    caller: Caller | undefined,
    signal: CancelSignal,
    what: string,
    repeatable: () => boolean,
    use: (connection: Connection) => Promise<T>,
    onQueued?: (ms: number) => void,
  ): Promise<T> {
    this.condition.refuseIfEnded();
    const key = this.keyOf(caller);
    const connection = this.trusted(key) ?? (await this.connected(key, caller, signal, onQueued));
    if (caller && key === caller.sessionId) connection.routing.caller = caller;
    try {
      const result = await use(connection);
      this.condition.answered();
      return result;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'SIGN_IN_NEEDED' && !this.isPersonal) this.condition.signInNeeded(error.message);
      if (error.code === 'CALL_TIMEOUT') this.liveness.doubt(connection);
      const neverStarted = error.retryable && this.pool.ready(key) !== connection;
      if (!neverStarted && !(error.code === 'CONNECTION_LOST' && repeatable())) throw lostDuring(what, error);
      this.condition.refuseIfEnded();
      const again = this.pool.ready(key) ?? (await this.pool.get(key, caller, signal));
      return use(again).catch((second) => {
        throw lostDuring(what, second);
      });
    }
  }

  /** Never the same for two principals where each signs in for itself. */
  keyOf(caller: Caller | undefined): string {
    if (caller === undefined) return COMMON;
    if (this.entry.isolation === 'session') return caller.sessionId;
    return this.isPersonal ? `of ${caller.owner ?? ''}` : COMMON;
  }

  /** The open connection, unless it may have died unnoticed: the way of nearly every call. */
  trusted(key: string): Connection | undefined {
    const connection = this.pool.ready(key);
    return connection && this.liveness.trusts(connection) ? connection : undefined;
  }

  /** One that is known to answer, or a new one. */
  async connected(
    key: string,
    caller: Caller | undefined,
    signal: CancelSignal,
    onQueued?: (ms: number) => void,
  ): Promise<Connection> {
    const since = performance.now();
    try {
      const connection = this.pool.ready(key);
      if (connection) await this.liveness.probe(connection, signal);
      return await this.pool.get(key, caller, signal);
    } finally {
      onQueued?.(performance.now() - since);
    }
  }

  private get isPersonal(): boolean {
    const { transport } = this.entry;
    return 'oauth' in transport && transport.oauth?.per === 'principal';
  }
}
