import type { Log } from '../../../log.js';
import type { Bounded } from '../../provider.js';

/** A server that goes on and on is in the log once in this time. */
const LOG_EVERY_MS = 10_000;

interface Entry extends Bounded {
  loggedAt: number;
}

/** Where one server was held within bounds, how often and why. */
export class Bounds {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly server: string,
    private readonly log: Log,
  ) {}

  get list(): readonly Bounded[] {
    return [...this.entries.values()].map(({ loggedAt, ...bounded }) => bounded);
  }

  /** `reason` is a sentence whose subject is the server. */
  note(what: string, reason: string): void {
    const now = Date.now();
    let entry = this.entries.get(what);
    if (!entry) {
      entry = { what, reason, times: 0, lastAt: now, loggedAt: 0 };
      this.entries.set(what, entry);
    }
    entry.reason = reason;
    entry.times += 1;
    entry.lastAt = now;
    if (now < entry.loggedAt + LOG_EVERY_MS) return;
    entry.loggedAt = now;
    const often = entry.times === 1 ? '' : ` So far ${entry.times} times.`;
    this.log.warn(`Server "${this.server}" is held within bounds: ${reason}${often}`);
  }
}
