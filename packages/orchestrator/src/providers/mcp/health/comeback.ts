const FIRST_MS = 1000;
const LONGEST_MS = 30_000;
/** A connection that held so long was a good one: the pauses begin anew. */
const GOOD_MS = 60_000;

/** Tries by itself, after longer and longer pauses, to have a server back that could not be reached or was lost. */
export class Comeback {
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  /** When the next attempt is made, in milliseconds since the epoch. */
  at: number | undefined;

  /** `attempt` rejects when it failed, and then has planned the next one. */
  constructor(private readonly attempt: () => Promise<unknown>) {}

  plan({ notBefore = 0, livedMs = 0 } = {}): void {
    if (this.timer) return;
    if (livedMs > GOOD_MS) this.failures = 0;
    const pause = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS);
    this.failures += 1;
    this.at = Math.max(Date.now() + pause, notBefore);
    this.timer = setTimeout(() => {
      this.pause();
      this.attempt().catch(() => {
        // The server's state says why, and the next attempt is planned.
      });
    }, this.at - Date.now()).unref();
  }

  /** Nothing is planned any more; the pauses stay as long as they have become. */
  pause(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.at = undefined;
  }

  forget(): void {
    this.pause();
    this.failures = 0;
  }
}
