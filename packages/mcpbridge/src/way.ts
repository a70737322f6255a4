import type { Incoming, Outgoing } from './attempt.js';

/** One way to an address. */
export interface Way {
  /**
   * Sends the request once; answers when the head of the answer is there. Rejects with NotReached, with BrokenOff,
   * or with the reason of its stop.
   */
  attempt(outgoing: Outgoing, connectMs: number): Promise<Incoming>;
}
