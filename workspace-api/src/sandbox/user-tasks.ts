import { execFile } from 'node:child_process';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { processIds } from '@mcpbridge/shared/marked-processes.js';

const FIRST_PID_NAMESPACE = 'pid:[4026531836]';
const FRESH_MS = 5000;
const MOST = 65_536;

/**
 * Finds how many processes the system counts for this user: lets a shell start one under lower and lower limits, until
 * it may not and ends with that. Prints the lowest that was enough, to a sixteenth.
 */
const PROBE = `
n=${MOST}
try() { ulimit -S -u $1 2>/dev/null || ulimit -S -p $1; /bin/true || exit; }
while [ $n -gt 16 ]; do try $((n / 2)); n=$((n / 2)); echo $n; done`;
const REFINE = `
n=$1 step=$(($1 / 16))
while [ $n -gt $step ]; do ulimit -S -u $((n - step)) 2>/dev/null || ulimit -S -p $((n - step)); /bin/true || exit; n=$((n - step)); echo $n; done`;

const run = promisify(execFile);
let probed: { at: number; count: Promise<number> } | undefined;

/** Processes and threads of this user: what the system's limit of processes counts, of all containers together. */
export function tasksOfUser(): Promise<number> {
  if (seesAll()) return Promise.resolve(countInProc());
  if (!probed || performance.now() - probed.at > FRESH_MS) probed = { at: performance.now(), count: probe() };
  return probed.count;
}

/** In a container the same user's processes of the machine and of other containers count, and cannot be seen. */
function seesAll(): boolean {
  return readlinkSync('/proc/self/ns/pid') === FIRST_PID_NAMESPACE;
}

function countInProc(): number {
  const user = process.getuid?.();
  return processIds().reduce((sum, pid) => sum + tasksOf(pid, user), 0);
}

function tasksOf(pid: number, user: number | undefined): number {
  try {
    return statSync(`/proc/${pid}`).uid === user ? readdirSync(`/proc/${pid}/task`).length : 0;
  } catch {
    // It ended while it was looked at.
    return 0;
  }
}

async function probe(): Promise<number> {
  const roughly = await lastLine(['-c', PROBE], MOST);
  return lastLine(['-c', REFINE, 'sh', String(roughly)], roughly);
}

/** The shell ends with a failure when it may start nothing: that is the answer. */
async function lastLine(args: string[], otherwise: number): Promise<number> {
  const { stdout } = await run('/bin/sh', args).catch((failed: { stdout?: string }) => ({
    stdout: failed.stdout ?? '',
  }));
  return Number(stdout.trim().split('\n').at(-1)) || otherwise;
}
