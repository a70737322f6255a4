import type { Answer } from './answer.js';

const SLOW_MS = 50;

/**
 * Opens the stream of answers that take long, so that what is between us and the client sees a living connection and
 * the client can come back for the result if it breaks. One timer serves all; none runs while nothing waits.
 */
export class SlowAnswers {
  /** Since when each waits, oldest first. */
  private readonly waiting = new Map<Answer, number>();
  private timer: NodeJS.Timeout | undefined;

  add(answer: Answer): void {
    this.waiting.set(answer, performance.now());
    this.timer ??= setInterval(() => this.sweep(), SLOW_MS).unref();
  }

  delete(answer: Answer): void {
    this.waiting.delete(answer);
  }

  private sweep(): void {
    const before = performance.now() - SLOW_MS;
    for (const [answer, since] of this.waiting) {
      if (since > before) return;
      this.waiting.delete(answer);
      answer.open();
    }
    if (this.waiting.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
