import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startOutliving } from '@mcpbridge/shared/outliving-process.js';
import { addressText, type EngineAddress } from './address.js';
import { LABELS, RUN } from './owner.js';

/** What the guard's process is told. */
export interface GuardTask {
  address: EngineAddress;
  /** Containers with this label are removed. */
  label: string;
}

/** The label that our containers of this process have and no others. */
const OURS = `${LABELS.run}=${RUN}`;

/**
 * A small process that outlives this one, however that ends, and then removes its containers. Most servers end with
 * their stdin and need it only for what stays of them; those that do not end would run for ever. It runs while there
 * are containers.
 */
class Guard {
  private holders = 0;
  private process: ChildProcess | undefined;

  constructor(private readonly address: EngineAddress) {}

  hold(): void {
    this.holders += 1;
    this.process ??= this.start();
  }

  release(): void {
    this.holders -= 1;
    // Not by the end of its stdin, upon which it would remove what begins in this moment.
    if (this.holders === 0) this.process?.kill('SIGKILL');
    if (this.holders === 0) this.process = undefined;
  }

  private start(): ChildProcess {
    const task: GuardTask = { address: this.address, label: OURS };
    const file = fileURLToPath(new URL('./container-guard.js', import.meta.url));
    return startOutliving(process.execPath, [file, JSON.stringify(task)], {}, (child) => {
      if (this.process === child) this.process = undefined;
    });
  }
}

const guards = new Map<string, Guard>();

/** The guard over the containers of one engine. */
export function guardOf(address: EngineAddress): Guard {
  const key = addressText(address);
  const guard = guards.get(key) ?? new Guard(address);
  guards.set(key, guard);
  return guard;
}
