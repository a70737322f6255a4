import { BrokenOff, type Incoming, type Outgoing } from './attempt.js';
import { LocalSocket } from './local-socket.js';
import { requestBytes } from './request-bytes.js';
import type { Way } from './way.js';

/**
 * Through the orchestrator's Unix socket, over connections that are kept: as many as there were requests at once.
 * node:http could do it, at more than twice the processor time of a call, and of a start.
 */
export class LocalWay implements Way {
  private readonly idle: LocalSocket[] = [];

  constructor(private readonly path: string) {}

  async attempt(outgoing: Outgoing, connectMs: number): Promise<Incoming> {
    const { stop } = outgoing;
    if (stop?.isFired) throw stop.reason;
    const bytes = requestBytes(outgoing);
    const kept = this.takeIdle();
    if (kept) {
      try {
        return await kept.send(bytes, outgoing);
      } catch (error) {
        // The other end had closed it before it could read the request.
        const isStale = error instanceof BrokenOff && !error.whole && !stop?.isFired;
        if (!isStale) throw error;
      }
    }
    const fresh = new LocalSocket(this.path, connectMs, (socket) => this.idle.push(socket));
    return fresh.send(bytes, outgoing);
  }

  /** The one used last, so that the others of a burst stay as they are. */
  private takeIdle(): LocalSocket | undefined {
    for (let socket = this.idle.pop(); socket; socket = this.idle.pop()) {
      if (socket.isOpen) return socket;
    }
    return undefined;
  }
}
