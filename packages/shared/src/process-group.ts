import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { guardGroup, releaseGroup } from './group-guard.js';
import { signalStrays, straysOf } from './strays.js';

const AFTER_STDIN_END_MS = 500;
const AFTER_TERM_MS = 1000;
const AFTER_KILL_MS = 1000;
const LOOK_EVERY_MS = 15;

const POSIX = process.platform !== 'win32';
const live = new Set<ProcessGroup>();
let hooked = false;

/** Ends every group at once and does not wait: for the last moment of this process. */
export function endAllGroups(): void {
  for (const group of live) group.kill();
}

/**
 * A child that was spawned `detached`, with all that it starts. `npx` and `sh -c` leave the real server as a
 * grandchild, which a signal to the child alone would not reach; one that leaves the group is looked up.
 */
export class ProcessGroup {
  private ending: Promise<void> | undefined;

  constructor(
    private readonly child: ChildProcess,
    private readonly id: number,
  ) {
    live.add(this);
    guardGroup(id);
    if (!hooked) process.on('exit', endAllGroups);
    hooked = true;
  }

  /** Waits a moment for the end by itself, asks, then insists. The caller has closed stdin. */
  end(): Promise<void> {
    this.ending ??= this.endInSteps();
    return this.ending;
  }

  kill(): void {
    const strays = straysOf(this.id, this.id);
    this.signal('SIGKILL');
    signalStrays(strays, 'SIGKILL');
  }

  private signal(signal: NodeJS.Signals): void {
    try {
      if (POSIX) process.kill(-this.id, signal);
      else this.child.kill(signal);
    } catch {
      // It is gone already, which is what was wanted.
    }
  }

  private async endInSteps(): Promise<void> {
    // While the server lives: afterwards nothing tells whose they were.
    const strays = straysOf(this.id, this.id);
    if (!(await this.goneWithin(AFTER_STDIN_END_MS))) {
      this.signal('SIGTERM');
      // One that is stopped heeds nothing but this and SIGKILL.
      this.signal('SIGCONT');
      if (!(await this.goneWithin(AFTER_TERM_MS))) {
        this.signal('SIGKILL');
        await this.goneWithin(AFTER_KILL_MS);
      }
    }
    signalStrays(strays, 'SIGKILL');
    live.delete(this);
    releaseGroup(this.id);
  }

  /** There is no event for the end of a grandchild, so the group is looked for. */
  private async goneWithin(ms: number): Promise<boolean> {
    const deadline = Date.now() + ms;
    while (this.isAlive()) {
      if (Date.now() >= deadline) return false;
      await sleep(LOOK_EVERY_MS);
    }
    return true;
  }

  private isAlive(): boolean {
    if (!POSIX) return this.child.exitCode === null && this.child.signalCode === null;
    try {
      process.kill(-this.id, 0);
      return true;
    } catch {
      return false;
    }
  }
}
