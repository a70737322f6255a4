interface Waiting {
  sessionId: string;
  enter(): void;
  refuse(reason: unknown): void;
}

/** At most so many at once, of one session and of all; the others wait, in the order they came. */
export class Places {
  private readonly taken = new Map<string, number>();
  private total = 0;
  private readonly waiting: Waiting[] = [];

  constructor(
    private readonly ofSession: number,
    private readonly ofAll: number,
  ) {}

  /** Resolves with what gives the place back; rejects with the signal's reason when that comes first. */
  async enter(sessionId: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!this.hasRoom(sessionId)) await this.turn(sessionId, signal);
    else this.take(sessionId);
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      this.total -= 1;
      const left = (this.taken.get(sessionId) ?? 0) - 1;
      if (left > 0) this.taken.set(sessionId, left);
      else this.taken.delete(sessionId);
      this.letIn();
    };
  }

  /** Whoever of that session waits gets the reason instead of a place. */
  refuseWaiting(sessionId: string, reason: Error): void {
    for (const place of this.waiting.filter((one) => one.sessionId === sessionId)) place.refuse(reason);
  }

  private turn(sessionId: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const place: Waiting = {
        sessionId,
        enter: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
        refuse: (reason: unknown) => {
          signal.removeEventListener('abort', leave);
          this.waiting.splice(this.waiting.indexOf(place), 1);
          reject(reason);
        },
      };
      const leave = () => place.refuse(signal.reason);
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.push(place);
    });
  }

  /** The next that there is room for: a session that waits for its own commands holds up no other. */
  private letIn(): void {
    const at = this.waiting.findIndex(({ sessionId }) => this.hasRoom(sessionId));
    const [next] = at === -1 ? [] : this.waiting.splice(at, 1);
    if (!next) return;
    this.take(next.sessionId);
    next.enter();
  }

  private hasRoom(sessionId: string): boolean {
    return this.total < this.ofAll && (this.taken.get(sessionId) ?? 0) < this.ofSession;
  }

  private take(sessionId: string): void {
    this.total += 1;
    this.taken.set(sessionId, (this.taken.get(sessionId) ?? 0) + 1);
  }
}
