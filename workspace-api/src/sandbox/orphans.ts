import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasMark, killTree, namesIn, signal } from './process-tree.js';

const SWEEP_MS = 2000;
const LOOK_EVERY_MS = 20;

/**
 * Jailed processes whose parent has ended. This process adopts them, so they are among its children, and that they are
 * jailed cannot be taken off: so none can hide, however it clears its environment or leaves its group. Whose they are
 * cannot always be told: one without the mark of a running command goes when the next command ends. Never one of the
 * service's own programs, which nobody but Node may reap: whoever waits for it would wait for ever.
 */
export class Orphans {
  private readonly leaders = new Set<number>();
  private readonly marks = new Set<string>();
  private readonly starting = new Set<Promise<unknown>>();
  /** Under way: until it is done, no command starts. */
  private looking: Promise<unknown> | undefined;
  private sweeping: Promise<void> | undefined;
  private readonly ownFilters = filtersOn('self');

  constructor(private readonly reap: (pid: number) => void) {}

  /** Until its first process is known, a command looks like an orphan; so commands do not start while one is looked for. */
  async starts<Leader extends { pid: number }>(mark: string, start: () => Promise<Leader>): Promise<Leader> {
    while (this.looking) await this.looking;
    const begun = this.begin(mark, start);
    this.starting.add(begun);
    try {
      return await begun;
    } finally {
      this.starting.delete(begun);
    }
  }

  private async begin<Leader extends { pid: number }>(
    mark: string,
    start: () => Promise<Leader>,
  ): Promise<Leader> {
    this.marks.add(mark);
    try {
      const leader = await start();
      this.leaders.add(leader.pid);
      return leader;
    } catch (thrown) {
      this.marks.delete(mark);
      throw thrown;
    }
  }

  /** Resolves when nothing that the command left behind lives, or it does not end. */
  async ended(pid: number, mark: string): Promise<void> {
    this.leaders.delete(pid);
    this.marks.delete(mark);
    // A sweep under way may have passed what this one leaves.
    await this.sweeping;
    this.sweeping ??= this.sweep().finally(() => {
      this.sweeping = undefined;
    });
    await this.sweeping;
  }

  /** Those below an orphan become orphans when it is gone. */
  private async sweep(): Promise<void> {
    const end = performance.now() + SWEEP_MS;
    for (;;) {
      const found = await this.look(end);
      if (found.length === 0 || performance.now() > end) return;
      for (const pid of found) {
        killTree(pid);
        signal(pid, 'SIGKILL');
        this.reap(pid);
      }
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** When those that were starting have started; none where that takes too long. */
  private async look(end: number): Promise<number[]> {
    const late = sleep(Math.max(0, end - performance.now()), undefined, { ref: false });
    this.looking = Promise.race([Promise.allSettled(this.starting), late]);
    await this.looking;
    this.looking = undefined;
    return this.starting.size > 0 ? [] : this.find();
  }

  private find(): number[] {
    return childrenOfThis().filter(
      (pid) => !this.leaders.has(pid) && this.isJailed(pid) && !hasMark(pid, this.marks),
    );
  }

  /** A service in a container may be under a filter itself, with all its programs; a jail puts one more on. */
  private isJailed(pid: number): boolean {
    return filtersOn(pid) > this.ownFilters;
  }
}

function childrenOfThis(): number[] {
  return namesIn('/proc/self/task').flatMap((task) => {
    try {
      return readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    } catch {
      // The thread ended.
      return [];
    }
  });
}

/** How many filters of system calls it is under; a zombie still says so. */
function filtersOn(process: number | 'self'): number {
  try {
    const status = readFileSync(`/proc/${process}/status`, 'utf8');
    return Number(/^Seccomp_filters:\s+(\d+)$/m.exec(status)?.[1] ?? 0);
  } catch {
    // It is gone.
    return 0;
  }
}
