import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { abortReason } from '../abort.js';

/** A connection may become idle while somebody waits; nothing tells of it. */
const LOOK_EVERY_MS = 100;

/** Has connections, some of which may be idle. */
export interface RoomMaker {
  /** When the one that is idle longest was last used, by `performance.now()`; undefined when none is idle. */
  idleSince(): number | undefined;
  /** Ends that one; resolves when its process is gone. */
  closeIdlest(): Promise<void>;
}

interface Waiting {
  enter(): void;
}

/** How many processes and containers of servers there may be at once, and who waits for one to end. */
export class ProcessPlaces {
  private taken = 0;
  private ending = 0;
  private readonly waiting: Waiting[] = [];
  private readonly makers = new Set<RoomMaker>();
  private look: NodeJS.Timeout | undefined;

  constructor(private readonly limit: number) {}

  get takenCount(): number {
    return this.taken;
  }

  get waitingCount(): number {
    return this.waiting.length;
  }

  join(maker: RoomMaker): void {
    this.makers.add(maker);
  }

  leave(maker: RoomMaker): void {
    this.makers.delete(maker);
  }

  /**
   * A place for one process, at once or when another has ended, for which the connection that is idle longest is
   * closed. Answers how to give it back; rejects with TOO_MANY_PROCESSES after `ms`, or with the reason of the abort.
   */
  async take(server: string, ms: number, signal: CancelSignal): Promise<() => void> {
    if (!this.hasRoom) await this.wait(server, ms, signal);
    else this.taken += 1;
    return this.returning();
  }

  /** One if there is one free that nobody waits for. */
  takeFree(): (() => void) | undefined {
    if (!this.hasRoom) return undefined;
    this.taken += 1;
    return this.returning();
  }

  get hasRoom(): boolean {
    return this.taken < this.limit;
  }

  /** `within`: the time in which there was no room. */
  noRoom(server: string, within: string, cause?: Error): AppError {
    return new AppError(
      'TOO_MANY_PROCESSES',
      `Server "${server}" could not be started within ${within}: all ${this.limit} processes that may run at once ` +
        '(MAX_UPSTREAM_PROCESSES) are in use; try again when a call has ended.',
      { cause, details: { limit: this.limit, waiting: this.waiting.length } },
    );
  }

  private returning(): () => void {
    let isMine = true;
    return () => {
      if (isMine) this.giveBack();
      isMine = false;
    };
  }

  private wait(server: string, ms: number, signal: CancelSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(abortReason(signal));
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        const at = this.waiting.indexOf(waiting);
        if (at !== -1) this.waiting.splice(at, 1);
        this.keepLooking();
      };
      const onAbort = () => {
        leave();
        reject(abortReason(signal));
      };
      const timer = setTimeout(() => {
        leave();
        reject(this.noRoom(server, `${ms / 1000} s`));
      }, ms);
      const waiting = {
        enter() {
          leave();
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort);
      this.waiting.push(waiting);
      this.makeRoom();
      this.keepLooking();
    });
  }

  private giveBack(): void {
    const next = this.waiting[0];
    if (next) next.enter();
    else this.taken -= 1;
  }

  private keepLooking(): void {
    if (this.waiting.length > 0) this.look ??= setInterval(() => this.makeRoom(), LOOK_EVERY_MS).unref();
    else {
      clearInterval(this.look);
      this.look = undefined;
    }
  }

  private makeRoom(): void {
    while (this.ending < this.waiting.length) {
      const idlest = this.idlest();
      if (!idlest) return;
      this.ending += 1;
      void idlest.closeIdlest().finally(() => {
        this.ending -= 1;
      });
    }
  }

  private idlest(): RoomMaker | undefined {
    let found: RoomMaker | undefined;
    let since = Number.POSITIVE_INFINITY;
    for (const maker of this.makers) {
      const idle = maker.idleSince();
      if (idle !== undefined && idle < since) [found, since] = [maker, idle];
    }
    return found;
  }
}
