import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningOrchestrator } from './orchestrator.js';
import { eventually, root } from './processes.js';

/** What an orchestrator holds at one moment. */
export interface Census {
  processes: number;
  /** File descriptors that are sockets (pipes to children are, too), and all of them. */
  sockets: number;
  handles: number;
  threads: number;
  timers: number;
  /** Bytes of memory, as this and what follows. */
  rss: number;
  heap: number;
  /** What buffers hold outside of the heap. */
  external: number;
}

/** For the environment of an orchestrator that is to be counted. */
export function probed(file: string): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${root}/tests/support/probe.mjs`,
    PROBE_FILE: file,
  };
}

export async function takeCensus(
  { process: { pid = 0 } }: RunningOrchestrator,
  file: string,
): Promise<Census> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  await eventually('the probe answers', () => existsSync(file));
  const { timers, memory } = JSON.parse(readFileSync(file, 'utf8'));
  const handles = linksOf(pid);
  return {
    processes: descendantsOf(pid).length,
    sockets: handles.filter((link) => link.startsWith('socket:')).length,
    handles: handles.length,
    threads: readdirSync(`/proc/${pid}/task`).length,
    timers,
    rss: memory.rss,
    heap: memory.heapUsed,
    external: memory.external,
  };
}

/** All processes below this one. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = parentOf(Number(name));
    if (parent !== undefined) parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
  }
  const below = (id: number): number[] =>
    (parents.get(id) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    // It ended while it was looked at.
    return undefined;
  }
}

function linksOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((fd) => {
    try {
      return [readlinkSync(join(folder, fd))];
    } catch {
      // It was closed while it was looked at.
      return [];
    }
  });
}
