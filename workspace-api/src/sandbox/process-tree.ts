import { readdirSync, readFileSync } from 'node:fs';
import { signalStrays, straysOf } from '@mcpbridge/shared/strays.js';

/** In the environment of every process of a command, unless it took it out. */
export const COMMAND_MARK = 'MCP_COMMAND_MARK';

/** Ends a command that has no namespace: its process group, and who left that and is still below it. */
export function killTree(pid: number): void {
  // While they hold still, none slips away between the look and the blow.
  signal(-pid, 'SIGSTOP');
  const strays = straysOf(pid, pid);
  signal(-pid, 'SIGKILL');
  signalStrays(strays, 'SIGKILL');
}

/** Those who are below nothing of the command any more, by its mark; one that means to can take that off. */
export function killMarked(mark: string): void {
  const text = markText(mark);
  for (const pid of processIds())
    if (pid !== process.pid && environmentOf(pid).includes(text)) signal(pid, 'SIGKILL');
}

export function hasMark(pid: number, marks: Iterable<string>): boolean {
  const environment = environmentOf(pid);
  return [...marks].some((mark) => environment.includes(markText(mark)));
}

const markText = (mark: string) => `${COMMAND_MARK}=${mark}\0`;

/** None where no file can be opened any more: whoever ends processes must not fail at that, or the service would end. */
export function processIds(): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // Another user's, or gone.
    return '';
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, which is what was wanted.
  }
}
