import { Underway } from '@mcpbridge/shared/underway.js';
import type { Answer } from './answer.js';

const SLOW_MS = 50;

/**
 * Opens the stream of answers that take long, so that what is between us and the client sees a living connection and
 * the client can come back for the result if it breaks. One timer serves all; none runs while nothing waits.
 */
export class SlowAnswers {
  private readonly waiting = new Underway<Answer>();
  private timer: NodeJS.Timeout | undefined;

  add(answer: Answer): void {
    this.waiting.add(answer);
    this.timer ??= setInterval(() => this.sweep(), SLOW_MS).unref();
  }

  delete(answer: Answer): void {
    this.waiting.delete(answer);
  }

  private sweep(): void {
    const before = performance.now() - SLOW_MS;
    for (const answer of this.waiting) {
      if (answer.startedAt > before) continue;
      this.waiting.delete(answer);
      answer.open();
    }
    if (this.waiting.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
