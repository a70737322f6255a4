const SECOND_MS = 1000;

/**
 * So many units a second, and as many at once; a message weighs one unit and one more for each KiB. The clock is read
 * only when a second's units are used up, so that who stays far below pays a subtraction.
 */
export class Allowance {
  private left: number;
  private since = performance.now();

  constructor(private readonly perSecond: number) {
    this.left = perSecond;
  }

  /** A single message is never too large for it; those after it are. */
  allows(bytes = 0): boolean {
    if (this.left <= 0 && !this.renew()) return false;
    this.left -= 1 + Math.floor(bytes / 1024);
    return true;
  }

  /** Milliseconds until there are units again. */
  get renewsIn(): number {
    return Math.max(0, this.since + SECOND_MS - performance.now());
  }

  private renew(): boolean {
    const now = performance.now();
    if (now < this.since + SECOND_MS) return false;
    this.since = now;
    this.left = this.perSecond;
    return true;
  }
}
