import { readdirSync, readFileSync } from 'node:fs';

/** A process outside the group that its server started; the start time tells it from a later one of the same id. */
interface Stray {
  id: number;
  startTime: string;
}

/**
 * Those below `id` that left its process group by `setsid`, as daemons do. They are found as children of children, so
 * only while the processes between live; where there is no /proc, none are found.
 */
export function straysOf(id: number, group: number): Stray[] {
  return childrenOf(id).flatMap((child) => {
    const stat = statOf(child);
    if (!stat) return [];
    const below = straysOf(child, group);
    return stat.group === group ? below : [{ id: child, startTime: stat.startTime }, ...below];
  });
}

export function signalStrays(strays: readonly Stray[], signal: NodeJS.Signals): void {
  for (const { id, startTime } of strays) {
    if (statOf(id)?.startTime !== startTime) continue;
    try {
      process.kill(id, signal);
    } catch {
      // It ended meanwhile, or changed its user: nothing more can be done.
    }
  }
}

function childrenOf(id: number): number[] {
  const tasks = `/proc/${id}/task`;
  return orNone(() => readdirSync(tasks)).flatMap((task) =>
    orNone(() => readFileSync(`${tasks}/${task}/children`, 'utf8').split(' ').filter(Boolean)).map(Number),
  );
}

/** Fields 5 and 22 of proc(5); the name before them may hold spaces and brackets. */
function statOf(id: number): { group: number; startTime: string } | undefined {
  const [text = ''] = orNone(() => [readFileSync(`/proc/${id}/stat`, 'utf8')]);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const startTime = fields[19];
  return startTime === undefined ? undefined : { group: Number(fields[2]), startTime };
}

function orNone(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    // The process ended while it was looked at.
    return [];
  }
}
