/** A loss stays worth telling for so long, even when all has gone well since. */
const TOLD_MS = 60_000;

/** What last went wrong with a server that is there all the same: a connection lost, or one that stopped answering. */
export class Trouble {
  private last: { reason: string; at: number; over: boolean } | undefined;

  note(reason: string): void {
    this.last = { reason, at: Date.now(), over: false };
  }

  /** The server answered. */
  over(): void {
    if (this.last) this.last.over = true;
  }

  forget(): void {
    this.last = undefined;
  }

  get reason(): string | undefined {
    const { last } = this;
    if (last?.over && Date.now() - last.at > TOLD_MS) this.last = undefined;
    return this.last?.reason;
  }
}
