import { BrokenOff, type Incoming, type Outgoing } from './attempt.js';
import { Channels, openChannels } from './channels.js';
import { LocalSocket } from './local-socket.js';
import { type RequestBytes, requestBytes } from './request-bytes.js';
import type { Way } from './way.js';

/** With so many connections at once, channels on one of them are worth their making. */
const MANY_SOCKETS = 6;

/**
 * Through the orchestrator's Unix socket: over connections that are kept, and in a burst of calls over channels, where the
 * orchestrator has them. node:http could do the first, at more than twice the processor time of a call, and of a start.
 */
export class LocalWay implements Way {
  private readonly idle: LocalSocket[] = [];
  private sockets: LocalSocket[] = [];
  private channels: Channels | undefined;
  private mayAsk = true;

  constructor(private readonly path: string) {}

  async attempt(outgoing: Outgoing, connectMs: number): Promise<Incoming> {
    const { stop } = outgoing;
    if (stop?.isFired) throw stop.reason;
    const bytes = requestBytes(outgoing);
    const kept = this.takeKept(outgoing, bytes);
    if (kept) {
      try {
        return await kept.send(bytes, outgoing);
      } catch (error) {
        // The other end had closed it before it could read the request, or wants it on a connection of its own.
        const isStale = error instanceof BrokenOff && !error.whole && !stop?.isFired;
        if (!isStale) throw error;
      }
    }
    return this.open(connectMs).send(bytes, outgoing);
  }

  private takeKept(outgoing: Outgoing, bytes: RequestBytes) {
    const channel = this.channels && Channels.takes(outgoing, bytes) ? this.channels.free() : undefined;
    return channel ?? this.takeIdle();
  }

  /** The one used last, so that the others of a burst stay as they are. */
  private takeIdle(): LocalSocket | undefined {
    for (let socket = this.idle.pop(); socket; socket = this.idle.pop()) {
      if (socket.isOpen) return socket;
    }
    return undefined;
  }

  private open(connectMs: number): LocalSocket {
    const fresh = new LocalSocket(this.path, connectMs, (socket) => this.idle.push(socket));
    this.sockets = [...this.sockets.filter(({ isOpen }) => isOpen), fresh];
    if (this.sockets.length >= MANY_SOCKETS && this.mayAsk) void this.askForChannels(connectMs);
    return fresh;
  }

  /** Once in the life of an orchestrator; an older one that has none is not asked again. */
  private async askForChannels(connectMs: number): Promise<void> {
    this.mayAsk = false;
    this.channels = await openChannels(this.path, connectMs, () => {
      this.channels = undefined;
      this.mayAsk = true;
    });
  }
}
