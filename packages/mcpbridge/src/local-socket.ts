import { connect, type Socket } from 'node:net';
import { BrokenOff, boundConnect, type Incoming, NotReached, type Outgoing } from './attempt.js';
import { type AnswerHead, HttpReader } from './http-reader.js';
import { LocalAnswer } from './local-answer.js';
import type { RequestBytes } from './request-bytes.js';
import type { Stop } from './stop.js';

/** One request and its answer. */
interface Exchange {
  resolve(answer: Incoming): void;
  reject(reason: unknown): void;
  /** All of the request has been taken by the system. */
  written: boolean;
  answer: LocalAnswer | undefined;
  stop: Stop | undefined;
}

interface SystemError extends Error {
  code?: string;
}

/**
 * All connections read into this, and what came is copied out at once: cheaper than a buffer of its own for each
 * read, of whose 64 KiB an answer mostly fills a few hundred bytes.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** A connection to the orchestrator's Unix socket, for one request after the other. */
export class LocalSocket {
  private readonly socket: Socket;
  private readonly reader = new HttpReader({
    onHead: (head) => this.begin(head),
    onPart: (part) => this.exchange?.answer?.push(part),
    onEnd: () => this.finish(),
  });
  private exchange: Exchange | undefined;
  private isConnected = false;
  private failure: SystemError | undefined;

  /** `onFree` hears each time that the next request may be sent. */
  constructor(
    path: string,
    connectMs: number,
    private readonly onFree: (socket: LocalSocket) => void,
  ) {
    this.socket = connect({
      path,
      onread: { buffer: READ_BUFFER, callback: (bytes) => this.receive(bytes) },
    });
    boundConnect(this.socket, connectMs);
    this.socket.on('connect', () => (this.isConnected = true));
    this.socket.on('end', () => this.reader.close());
    this.socket.on('error', (error) => (this.failure = error));
    this.socket.on('close', () => this.closed());
  }

  /** The other end has not closed it, as far as is known. */
  get isOpen(): boolean {
    return this.socket.writable && this.socket.readable;
  }

  /** To be called when it is free and open. */
  send([first, second]: RequestBytes, { stop, onWritten }: Outgoing): Promise<Incoming> {
    return new Promise((resolve, reject) => {
      const exchange: Exchange = { resolve, reject, written: false, answer: undefined, stop };
      this.exchange = exchange;
      // When the stop comes later, the connection may be serving another request.
      stop?.onFire(() => this.exchange === exchange && this.socket.destroy());
      const done = (error?: Error | null) => {
        if (error) return;
        exchange.written = true;
        onWritten?.();
      };
      if (!second) return this.socket.write(first, done);
      this.socket.cork();
      this.socket.write(first);
      this.socket.write(second, done);
      this.socket.uncork();
    });
  }

  /** True: go on reading. */
  private receive(bytes: number): boolean {
    try {
      // Nothing was asked, so nothing that comes can be an answer.
      if (!this.exchange) throw new Error('an answer came to no request');
      this.reader.push(Buffer.from(READ_BUFFER.subarray(0, bytes)));
    } catch (error) {
      this.socket.destroy(error instanceof Error ? error : undefined);
    }
    return true;
  }

  private begin(head: AnswerHead): void {
    if (!this.exchange) throw new Error('two answers came to one request');
    this.exchange.answer = new LocalAnswer(head);
    this.exchange.resolve(this.exchange.answer);
  }

  private finish(): void {
    const { exchange } = this;
    if (!exchange) return;
    this.exchange = undefined;
    // An answer that came before all was sent, a refusal, leaves a request that nobody needs to hear out.
    if (this.reader.keepsAlive && exchange.written) this.onFree(this);
    else this.socket.destroy();
    exchange.answer?.end();
  }

  private closed(): void {
    const { exchange } = this;
    if (!exchange) return;
    this.exchange = undefined;
    const message = this.failure?.message ?? 'the connection was closed';
    if (exchange.answer) exchange.answer.end(new Error(message));
    else exchange.reject(exchange.stop?.isFired ? exchange.stop.reason : this.why(message, exchange.written));
  }

  private why(message: string, written: boolean): NotReached | BrokenOff {
    const code = this.failure?.code;
    if (!this.isConnected) return new NotReached(message, code);
    // On a Unix socket these say that the other end closed before it had read all that was sent.
    const isUnread = code === 'EPIPE' || code === 'ECONNRESET';
    return new BrokenOff(message, written && !isUnread);
  }
}
