import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** By these labels a container says whose it is. */
export const LABELS = {
  /** The home folder of the orchestrator, by an id that is stored in it. */
  owner: 'mcpbridge.owner',
  server: 'mcpbridge.server',
  /** One life of an orchestrator's process, and where that process is to be found. */
  run: 'mcpbridge.run',
  host: 'mcpbridge.host',
  pid: 'mcpbridge.pid',
} as const;

/** This process. */
export const RUN = randomUUID();

export function labelsFor(server: string, home: string): Record<string, string> {
  return {
    [LABELS.owner]: ownerId(home),
    [LABELS.server]: server,
    [LABELS.run]: RUN,
    [LABELS.host]: hostname(),
    [LABELS.pid]: String(process.pid),
  };
}

/** The id of a home folder, which several orchestrators may share; made at the first use. */
export function ownerId(home: string): string {
  const file = join(home, 'container-owner');
  try {
    writeFileSync(file, randomUUID(), { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already; if it cannot be written, reading says why.
  }
  return readFileSync(file, 'utf8').trim();
}

/**
 * True for a container whose orchestrator is gone. One on another machine, or in another container, cannot be looked
 * for and counts as alive.
 */
export function isLeftover(labels: Record<string, string>): boolean {
  if (labels[LABELS.run] === RUN || labels[LABELS.host] !== hostname()) return false;
  const pid = Number(labels[LABELS.pid]);
  return pid === process.pid || !isAlive(pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
