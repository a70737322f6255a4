/**
 * Ends one piece of work from outside, once. An AbortController would do, at a tenth of the time of a call; here one
 * listener is enough, because the steps of a call follow each other.
 */
export class Stop {
  private fired: { reason: unknown } | undefined;
  private action: (() => void) | undefined;

  get isFired(): boolean {
    return this.fired !== undefined;
  }

  get reason(): unknown {
    return this.fired?.reason;
  }

  fire(reason: unknown): void {
    if (this.fired) return;
    this.fired = { reason };
    this.action?.();
  }

  /** What ends the present step; replaces what ended the one before. */
  onFire(action: (() => void) | undefined): void {
    this.action = action;
  }
}

/** Rejects with the reason when it is stopped before the time is over. */
export function pause(ms: number, stop?: Stop): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stop?.onFire(undefined);
      resolve();
    }, ms);
    stop?.onFire(() => {
      clearTimeout(timer);
      reject(stop.reason);
    });
  });
}
