import { readdirSync } from 'node:fs';
import { environmentOf, processesWith } from '@mcpbridge/shared/marked-processes.js';
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
  for (const pid of processesWith(COMMAND_MARK, [mark])) if (pid !== process.pid) signal(pid, 'SIGKILL');
}

export function hasMark(pid: number, marks: Iterable<string>): boolean {
  const environment = environmentOf(pid);
  return [...marks].some((mark) => environment.includes(`${COMMAND_MARK}=${mark}\0`));
}

/** None where no file can be opened any more: whoever ends processes must not fail at that, or the service would end. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, which is what was wanted.
  }
}
