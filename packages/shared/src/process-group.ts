import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { GROUP_MARK, guardGroup, OUR_MARK, releaseGroup } from './group-guard.js';
import { processesWith } from './marked-processes.js';
import { signalStrays, straysOf } from './strays.js';

const AFTER_STDIN_END_MS = 500;
const AFTER_TERM_MS = 1000;
const AFTER_KILL_MS = 1000;
const LOOK_EVERY_MS = 15;
/** So long those that end wait for others, to look through all processes once for all of them. */
const SWEEP_AFTER_MS = 30;

const POSIX = process.platform !== 'win32';
const live = new Set<ProcessGroup>();
const swept = new Set<string>();
let sweep: Promise<void> | undefined;
let marks = 0;
let hooked = false;

/** Ends every group at once and does not wait: for the last moment of this process. */
export function endAllGroups(): void {
  for (const group of live) group.kill();
}

/** To be spread into the environment of a child that will lead a group: so those are found who left it and whose parents ended. */
export function markedEnvironment(): Record<typeof GROUP_MARK, string> {
  marks += 1;
  return { [GROUP_MARK]: `${OUR_MARK}.${marks}` };
}

/**
 * A child that was spawned `detached`, with all that it starts. `npx` and `sh -c` leave the real server as a
 * grandchild, which a signal to the child alone would not reach; those that leave the group are looked up as children of
 * children, and by the mark that it was started with.
 */
export class ProcessGroup {
  private ending: Promise<void> | undefined;

  constructor(
    private readonly child: ChildProcess,
    private readonly id: number,
    private readonly marked: ReturnType<typeof markedEnvironment>,
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
    // While the server lives: afterwards only the mark tells whose they were, and that can be taken off.
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
    await endMarked(this.marked[GROUP_MARK]);
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

function endMarked(mark: string): Promise<void> {
  swept.add(mark);
  sweep ??= sleep(SWEEP_AFTER_MS).then(() => {
    sweep = undefined;
    const found = processesWith(GROUP_MARK, swept);
    swept.clear();
    for (const id of found) kill(id);
  });
  return sweep;
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}
