/** What one side puts in and the other reads in order, each at its own pace, until it is ended. */
export class EventQueue<T> implements AsyncIterable<T> {
  private readonly waiting: T[] = [];
  private wake: (() => void) | undefined;
  private isEnded = false;

  put(item: T): void {
    this.waiting.push(item);
    this.wake?.();
  }

  end(): void {
    this.isEnded = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (;;) {
      while (this.waiting.length > 0) yield this.waiting.shift() as T;
      if (this.isEnded) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
