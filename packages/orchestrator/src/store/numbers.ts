/**
 * Numbers of events: each is larger than the one before, over restarts too, without anything kept for it: they begin at
 * the microsecond of the start, and no house has a million events a second for long.
 */
export class Numbers {
  latest = Date.now() * 1000;

  next(): number {
    return this.take(1);
  }

  /** The first of so many, which follow each other. */
  take(count: number): number {
    const first = this.latest + 1;
    this.latest += count;
    return first;
  }
}
