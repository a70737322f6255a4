import type { BrokenOff, Incoming, NotReached, Outgoing } from './attempt.js';
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

/** What carries the bytes: a socket, or a channel of one. */
export interface Line {
  write(bytes: RequestBytes, done: (error?: Error | null) => void): void;
  /** Nobody wants the answer, or it makes no sense. */
  destroy(error?: Error): void;
}

/** The requests that go over one line, one after the other, and their answers. */
export class Exchanges {
  private readonly reader = new HttpReader({
    onHead: (head) => this.begin(head),
    onPart: (part) => this.exchange?.answer?.push(part),
    onEnd: () => this.finish(),
  });
  private exchange: Exchange | undefined;

  /** `onFree` hears each time that the next request may be sent. */
  constructor(
    private readonly line: Line,
    private readonly onFree: () => void,
  ) {}

  /** To be called when the line is free and open. */
  send(bytes: RequestBytes, { stop, onWritten }: Outgoing): Promise<Incoming> {
    return new Promise((resolve, reject) => {
      const exchange: Exchange = { resolve, reject, written: false, answer: undefined, stop };
      this.exchange = exchange;
      // When the stop comes later, the line may be serving another request.
      stop?.onFire(() => this.exchange === exchange && this.line.destroy());
      this.line.write(bytes, (error) => {
        if (error) return;
        exchange.written = true;
        onWritten?.();
      });
    });
  }

  receive(bytes: Buffer): void {
    try {
      // Nothing was asked, so nothing that comes can be an answer.
      if (!this.exchange) throw new Error('an answer came to no request');
      this.reader.push(bytes);
    } catch (error) {
      this.line.destroy(error instanceof Error ? error : undefined);
    }
  }

  /** The other end says no more, which is how an answer without a length ends. */
  ended(): void {
    this.reader.close();
  }

  /** The line is gone; `why` says what that means for a request that has no answer. */
  closed(message: string, why: (written: boolean) => NotReached | BrokenOff): void {
    const { exchange } = this;
    if (!exchange) return;
    this.exchange = undefined;
    const { answer, stop, written, reject } = exchange;
    if (answer) answer.end(new Error(message));
    else reject(stop?.isFired ? stop.reason : why(written));
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
    if (this.reader.keepsAlive && exchange.written) this.onFree();
    else this.line.destroy();
    exchange.answer?.end();
  }
}
