import { connect, type Socket } from 'node:net';
import { BrokenOff, boundConnect, type Incoming, NotReached, type Outgoing } from './attempt.js';
import { Exchanges } from './exchanges.js';
import type { RequestBytes } from './request-bytes.js';

interface SystemError extends Error {
  code?: string;
}

/**
 * All connections read into this, and what came is copied out at once: cheaper than a buffer of its own for each
 * read, of whose 64 KiB an answer mostly fills a few hundred bytes.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** Connects to a Unix socket; `receive` hears what comes, in bytes of its own. */
export function connectLocal(path: string, connectMs: number, receive: (bytes: Buffer) => void): Socket {
  const callback = (bytes: number) => {
    receive(Buffer.from(READ_BUFFER.subarray(0, bytes)));
    return true;
  };
  const socket = connect({ path, onread: { buffer: READ_BUFFER, callback } });
  boundConnect(socket, connectMs);
  return socket;
}

/** On a Unix socket these say that the other end closed before it had read all that was sent. */
export function isUnread({ code }: SystemError): boolean {
  return code === 'EPIPE' || code === 'ECONNRESET';
}

/** A connection to the orchestrator's Unix socket, for one request after the other. */
export class LocalSocket {
  private readonly socket: Socket;
  private readonly exchanges: Exchanges;
  private isConnected = false;
  private failure: SystemError | undefined;

  /** `onFree` hears each time that the next request may be sent. */
  constructor(path: string, connectMs: number, onFree: (socket: LocalSocket) => void) {
    const exchanges = new Exchanges(this, () => onFree(this));
    this.exchanges = exchanges;
    this.socket = connectLocal(path, connectMs, (bytes) => exchanges.receive(bytes));
    this.socket.on('connect', () => (this.isConnected = true));
    this.socket.on('end', () => exchanges.ended());
    this.socket.on('error', (error) => (this.failure = error));
    this.socket.on('close', () => this.closed());
  }

  /** The other end has not closed it, as far as is known. */
  get isOpen(): boolean {
    return this.socket.writable && this.socket.readable;
  }

  /** To be called when it is free and open. */
  send(bytes: RequestBytes, outgoing: Outgoing): Promise<Incoming> {
    return this.exchanges.send(bytes, outgoing);
  }

  write([first, second]: RequestBytes, done: (error?: Error | null) => void): void {
    if (!second) {
      this.socket.write(first, done);
      return;
    }
    this.socket.cork();
    this.socket.write(first);
    this.socket.write(second, done);
    this.socket.uncork();
  }

  destroy(error?: Error): void {
    this.socket.destroy(error);
  }

  private closed(): void {
    const { failure } = this;
    const message = failure?.message ?? 'the connection was closed';
    this.exchanges.closed(message, (written) => {
      if (!this.isConnected) return new NotReached(message, failure?.code);
      return new BrokenOff(message, written && !(failure && isUnread(failure)));
    });
  }
}
