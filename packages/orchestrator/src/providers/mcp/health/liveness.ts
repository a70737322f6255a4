import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import type { ServerEntry } from '../../../config/server-entry.js';
import { orAborted } from '../abort.js';
import type { Connection } from '../connection/connection.js';

/** A server that answers nothing for so long after a call's deadline has stopped working. */
const ANSWERS_WITHIN_MS = 3000;
/** Over a network: after so long without use a connection may be gone without a sign of it. */
const TRUSTED_MS = 30_000;
const REMOTE_ANSWERS_WITHIN_MS = 5000;

/** Tells connections that are still good from those that only look so. */
export class Liveness {
  private readonly mayDieUnseen: boolean;

  /** `onSilent` hears of a connection that did not answer within the milliseconds. */
  constructor(
    { transport }: ServerEntry,
    private readonly onSilent: (connection: Connection, ms: number) => void,
    private readonly trustedMs = TRUSTED_MS,
  ) {
    this.mayDieUnseen = transport.kind === 'http' || transport.kind === 'sse';
  }

  /** It may be used without asking it first: true for nearly every call. */
  trusts(connection: Connection): boolean {
    if (!this.mayDieUnseen) return true;
    return performance.now() - connection.lastUsed < this.trustedMs || !connection.peer.isIdle;
  }

  /** Resolves when it is known whether it still answers; one that does not is on its way out then. */
  probe(connection: Connection, signal: CancelSignal): Promise<void> {
    return orAborted(this.examine(connection, REMOTE_ANSWERS_WITHIN_MS), signal);
  }

  /** It let a deadline pass: is it only slow, or has it stopped? */
  doubt(connection: Connection): void {
    void this.examine(connection, ANSWERS_WITHIN_MS);
  }

  /** Asks once for all who want to know. */
  private examine(connection: Connection, ms: number): Promise<void> {
    connection.examined ??= this.ask(connection, ms).finally(() => {
      connection.examined = undefined;
    });
    return connection.examined;
  }

  private async ask(connection: Connection, ms: number): Promise<void> {
    if (connection.peer.isClosed || (await connection.answers(ms)) || connection.peer.isClosed) return;
    this.onSilent(connection, ms);
  }
}
