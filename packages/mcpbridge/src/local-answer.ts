import type { BodyListener, Incoming } from './attempt.js';
import type { AnswerHead } from './http-reader.js';

/** An answer whose body is still coming; what comes before somebody listens is kept for them. */
export class LocalAnswer implements Incoming {
  readonly status: number;
  readonly headers: AnswerHead['headers'];
  private early: Buffer[] = [];
  private listener: BodyListener | undefined;
  private last: { broken: Error | undefined } | undefined;

  constructor({ status, headers }: AnswerHead) {
    this.status = status;
    this.headers = headers;
  }

  read(listener: BodyListener): void {
    this.listener = listener;
    for (const part of this.early.splice(0)) listener.onPart(part);
    this.tellEnd();
  }

  push(part: Buffer): void {
    if (this.listener) this.listener.onPart(part);
    else this.early.push(part);
  }

  /** Nothing comes any more; `broken` says why that is too early. */
  end(broken?: Error): void {
    this.last ??= { broken };
    this.tellEnd();
  }

  private tellEnd(): void {
    const { last, listener } = this;
    if (!last || !listener) return;
    this.listener = undefined;
    if (last.broken) listener.onBreak(last.broken);
    else listener.onEnd();
  }
}
