import type { ToolList } from '../../provider.js';
import { COMMON } from '../pool/connections.js';

/**
 * The tools of one server as all sessions see them, and as single sessions do whose own connection said that its
 * tools changed: a server may give one session more tools, and no other session is to see them.
 */
export class ToolLists {
  common: ToolList | undefined;
  private readonly own = new Map<string, ToolList>();
  private readonly changed = new Set<string>();
  private readonly update = inTurn(() => this.readAll());

  /** `read` takes a session's id, or COMMON; it answers undefined for a session without a connection. */
  constructor(private readonly read: (key: string) => Promise<ToolList | undefined>) {}

  of(sessionId: string): ToolList | undefined {
    return this.own.get(sessionId) ?? this.common;
  }

  /** Reads anew; calls while it reads share one further read, as the news may be younger than what was read. */
  refresh(): Promise<void> {
    return this.update();
  }

  sessionChanged(sessionId: string): Promise<void> {
    this.changed.add(sessionId);
    return this.update();
  }

  /** True when the session had a list of its own, which went with its connection. */
  forget(sessionId: string): boolean {
    return this.own.delete(sessionId);
  }

  private async readAll(): Promise<void> {
    const sessions = [...this.changed];
    this.changed.clear();
    try {
      this.common = await this.read(COMMON);
    } finally {
      for (const sessionId of sessions) await this.readOwn(sessionId);
    }
  }

  private async readOwn(sessionId: string): Promise<void> {
    const list = await this.read(sessionId).catch(() => {
      // Its connection broke meanwhile, and the list with it.
      return undefined;
    });
    if (!list || JSON.stringify(list) === JSON.stringify(this.common)) this.own.delete(sessionId);
    else this.own.set(sessionId, list);
  }
}

function inTurn(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const run = () => {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (!running) return run();
    next ??= running.then(run, run);
    return next;
  };
}
