// Starts processes and sees to it that none outlives the bench: each leads a group of its own, and what its
// descendants are is looked up before the end, for those that made groups of their own.
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** HOME of everything started here, the logs, and the orchestrator's files. */
export const workFolder = mkdtempSync(join(tmpdir(), 'mcpbridge-bench-'));

/** The same for all: no setting of the caller, and no NODE_EXTRA_CA_CERTS, which costs every node 35 ms at its start. */
const plainEnv = { PATH: process.env.PATH, HOME: workFolder, LANG: 'C.UTF-8' };
const running = new Set();

/** Outlives this process if that is killed, and then ends what ran: the last line it read names the groups. */
const guard = spawn(
  '/bin/sh',
  [
    '-c',
    'while read -r line; do last=$line; done; for group in $last; do kill -s KILL -- -$group; done; rm -rf "$0"',
    workFolder,
  ],
  { detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
);
guard.unref();

/** `node args…`, stdin and stdout on pipes; stderr goes to `logOf(name)`. */
export function startNode(name, args, env = {}, stdio = ['pipe', 'pipe']) {
  return startProgram(name, process.execPath, args, env, stdio);
}

export function startProgram(name, command, args, env = {}, stdio = ['pipe', 'pipe']) {
  const log = openSync(join(workFolder, `${name}.log`), 'a');
  const child = spawn(command, args, {
    cwd: workFolder,
    detached: true,
    env: { ...plainEnv, ...env },
    stdio: [...stdio.map((kind) => (kind === 'log' ? log : kind)), log],
  });
  closeSync(log);
  child.name = name;
  running.add(child);
  child.once('exit', () => forget(child));
  child.once('error', () => forget(child));
  tellGuard();
  return child;
}

function forget(child) {
  running.delete(child);
  tellGuard();
}

function tellGuard() {
  guard.stdin.write(`${[...running].map(({ pid }) => pid).join(' ')}\n`);
}

export const logOf = (name) => readFileSync(join(workFolder, `${name}.log`), 'utf8').slice(-2000);

/** Ends a process and everything below it; resolves when all are gone. */
export async function stop(child) {
  if (child.pid === undefined) return;
  const processes = withDescendants(child.pid);
  signal(-child.pid, 'SIGTERM');
  for (let waited = 0; waited < 5000 && processes.some(isAlive); waited += 5) await delay(5);
  for (const one of processes.filter(isAlive)) signal(one.pid, 'SIGKILL');
  forget(child);
}

export async function stopAll() {
  await Promise.all([...running].map(stop));
}

/** For the ways out on which nothing can be awaited. */
export function killAll() {
  for (const child of running) for (const one of withDescendants(child.pid)) signal(one.pid, 'SIGKILL');
}

/** Resident megabytes, as the kernel counts them page by page (the figure in /proc/PID/status lags behind). */
export function residentMegabytes(pid) {
  const kilobytes = /^Rss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already, which is what was wanted.
  }
}

function withDescendants(pid) {
  const all = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const known = all.map((entry) => readStat(Number(entry))).filter(Boolean);
  const found = known.filter((one) => one.pid === pid);
  for (const parent of found) found.push(...known.filter((one) => one.parent === parent.pid));
  return found;
}

/** The start time tells a process from a later one with the same id. */
function isAlive({ pid, started }) {
  const now = readStat(pid);
  return now !== undefined && now.started === started && now.state !== 'Z';
}

function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, state: fields[0], parent: Number(fields[1]), started: fields[19] };
  } catch {
    return undefined; // ended between the listing and the reading
  }
}
