import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Limits } from './sandbox.js';

const PREFIX = 'mcpbridge-';
const EMPTY_WITHIN_MS = 2000;
const LOOK_EVERY_MS = 10;

/** The limits of one command's whole tree. */
export interface CommandGroup {
  /** Folders whose `cgroup.procs` the command's first process must be in before it starts others. */
  readonly folders: readonly string[];
  /** Ends every process in it, wherever in the tree it went. */
  kill(): void;
  wasOutOfMemory(): boolean;
  /** Ends what is still in it, and takes it away once that is gone; nobody waits for it. */
  remove(): void;
}

interface Controller {
  /** Where this service's own groups are made. */
  base: string;
  limits(limits: Limits): Record<string, number>;
}

/** Control groups of either version, where this user may make them. */
export class Cgroups {
  private count = 0;
  private readonly removals = new Set<Promise<void>>();

  private constructor(
    private readonly controllers: readonly Controller[],
    private readonly version: 1 | 2,
  ) {}

  /** Undefined where none can be had: most users on most machines. */
  static open(): Cgroups | undefined {
    try {
      const own = new Map(
        readFileSync('/proc/self/cgroup', 'utf8')
          .trim()
          .split('\n')
          .map((line) => {
            const [, controllers = '', path = '/'] = line.split(':');
            return [controllers, path] as const;
          }),
      );
      return openV2(own.get('')) ?? openV1(own.get('memory'), own.get('pids'));
    } catch {
      // Not to be had is an answer; what it means for processes and memory is told by whoever asked.
      return undefined;
    }

    function openV2(path: string | undefined): Cgroups | undefined {
      if (path === undefined) return undefined;
      const parent = join('/sys/fs/cgroup', path);
      const limits = ({ memoryBytes, processes }: Limits) => ({
        'memory.max': memoryBytes,
        'memory.swap.max': 0,
        'pids.max': processes,
      });
      const base = makeBase(parent, ['memory.max', 'pids.max']);
      return base === undefined ? undefined : new Cgroups([{ base, limits }], 2);
    }

    function openV1(memory = '/', pids = '/'): Cgroups | undefined {
      const forMemory = makeBase(join('/sys/fs/cgroup/memory', memory), ['memory.limit_in_bytes']);
      const forPids = makeBase(join('/sys/fs/cgroup/pids', pids), ['pids.max']);
      if (forMemory === undefined || forPids === undefined) return undefined;
      return new Cgroups(
        [
          { base: forMemory, limits: ({ memoryBytes }) => ({ 'memory.limit_in_bytes': memoryBytes }) },
          { base: forPids, limits: ({ processes }) => ({ 'pids.max': processes }) },
        ],
        1,
      );
    }
  }

  create(limits: Limits): CommandGroup {
    this.count += 1;
    const name = String(this.count);
    const folders = this.controllers.map((controller) => {
      const folder = join(controller.base, name);
      mkdirSync(folder);
      for (const [file, value] of Object.entries(controller.limits(limits))) {
        // Machines without swap have no limit for it.
        if (file !== 'memory.swap.max') writeFileSync(join(folder, file), String(value));
        else ignoring(() => writeFileSync(join(folder, file), String(value)));
      }
      return folder;
    });
    const isEmpty = () => folders.every((folder) => processesIn(folder).length === 0);
    const kill = () => {
      for (const folder of folders)
        for (const pid of processesIn(folder)) ignoring(() => process.kill(pid, 'SIGKILL'));
    };
    return {
      folders,
      kill,
      wasOutOfMemory: () => folders.some((folder) => outOfMemoryIn(folder, this.version)),
      remove: () => {
        const removal = remove().finally(() => this.removals.delete(removal));
        this.removals.add(removal);
      },
    };

    async function remove(): Promise<void> {
      for (let waited = 0; !isEmpty() && waited < EMPTY_WITHIN_MS; waited += LOOK_EVERY_MS) {
        kill();
        await sleep(LOOK_EVERY_MS);
      }
      for (const folder of folders) ignoring(() => rmdirSync(folder));
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.removals);
    for (const { base } of this.controllers) removeBase(base);
  }
}

/** Our own group below `parent`; those of services that were killed are removed. Undefined where it cannot be used. */
function makeBase(parent: string, files: readonly string[]): string | undefined {
  try {
    for (const name of readdirSync(parent)) {
      const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : undefined;
      if (pid !== undefined && !isAlive(pid)) removeBase(join(parent, name));
    }
    const base = join(parent, `${PREFIX}${process.pid}-${(made += 1)}`);
    mkdirSync(base);
    const has = readdirSync(base);
    if (files.every((file) => has.includes(file)) && letsChildrenHave(base)) return base;
    rmdirSync(base);
  } catch {
    // Read-only, or not ours.
  }
  return undefined;
}

let made = 0;

/** In version 2 a group must say which limits those below it get. */
function letsChildrenHave(base: string): boolean {
  if (!readdirSync(base).includes('cgroup.subtree_control')) return true;
  writeFileSync(join(base, 'cgroup.subtree_control'), '+memory +pids');
  return true;
}

function removeBase(base: string): void {
  ignoring(() => {
    for (const entry of readdirSync(base, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      for (const pid of processesIn(join(base, entry.name))) ignoring(() => process.kill(pid, 'SIGKILL'));
      ignoring(() => rmdirSync(join(base, entry.name)));
    }
    rmdirSync(base);
  });
}

function processesIn(folder: string): number[] {
  try {
    return readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    // It was removed.
    return [];
  }
}

function outOfMemoryIn(folder: string, version: 1 | 2): boolean {
  try {
    const file = version === 2 ? 'memory.events' : 'memory.oom_control';
    return /^oom_kill [1-9]/m.test(readFileSync(join(folder, file), 'utf8'));
  } catch {
    // The controller of processes has no such file.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function ignoring(act: () => void): void {
  try {
    act();
  } catch {
    // It went by itself, or something is still in it: the next start removes it.
  }
}
