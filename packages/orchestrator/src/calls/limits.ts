import { AppError } from '@mcpbridge/shared/errors.js';
import type { Session } from '../sessions/session.js';

interface Use {
  running: number;
  /** Calls that may still be made now; grows back with time up to a minute's worth. Undefined: without limit. */
  left: number | undefined;
  /** When `left` was counted, on the clock of performance.now(). */
  at: number;
}

const MINUTE_MS = 60_000;

/** How much of its limits each session uses. A parent counts the calls of those under it as its own. */
export class Limits {
  private readonly uses = new WeakMap<Session, Use>();

  /** Counts a call in; @throws LIMIT_REACHED with what is allowed and when there is room. Else `leave` must follow. */
  enter(session: Session): void {
    for (let one: Session | undefined = session; one; one = one.parent) this.check(one);
    for (let one: Session | undefined = session; one; one = one.parent) {
      const use = this.uses.get(one);
      if (!use) continue;
      use.running += 1;
      if (use.left !== undefined) use.left -= 1;
    }
  }

  leave(session: Session): void {
    for (let one: Session | undefined = session; one; one = one.parent) {
      const use = this.uses.get(one);
      if (use) use.running = Math.max(0, use.running - 1);
    }
  }

  private check(session: Session): void {
    const { callsPerMinute, concurrent } = session.policy.limits ?? {};
    if (callsPerMinute === undefined && concurrent === undefined) return;
    const use = this.useOf(session, callsPerMinute);
    if (concurrent !== undefined && use.running >= concurrent) {
      throw reached(
        `${use.running} calls are running and this session may have ${concurrent} at once: wait for one to end.`,
        { limit: 'concurrent', allowed: concurrent, running: use.running },
      );
    }
    if (callsPerMinute !== undefined && use.left !== undefined && use.left < 1) {
      const retryAfterMs = Math.ceil(((1 - use.left) * MINUTE_MS) / callsPerMinute);
      throw reached(
        `This session may make ${callsPerMinute} calls a minute and has none left: there is room for one in ${Math.ceil(retryAfterMs / 1000)} s.`,
        { limit: 'callsPerMinute', allowed: callsPerMinute, retryAfterMs },
      );
    }
  }

  private useOf(session: Session, callsPerMinute: number | undefined): Use {
    const now = performance.now();
    let use = this.uses.get(session);
    if (!use) {
      use = { running: 0, left: callsPerMinute, at: now };
      this.uses.set(session, use);
    }
    // A limit that a policy got later begins with a minute's worth.
    if (callsPerMinute === undefined || use.left === undefined) use.left = callsPerMinute;
    else use.left = Math.min(callsPerMinute, use.left + ((now - use.at) * callsPerMinute) / MINUTE_MS);
    use.at = now;
    return use;
  }
}

function reached(sentence: string, details: object): AppError {
  return new AppError('LIMIT_REACHED', sentence, { details });
}
