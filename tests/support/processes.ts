import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll } from '@jest/globals';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const fixture = (name: string) => `${root}/tests/fixtures/${name}`;
export const bridgeFile = `${root}/packages/mcpbridge/dist/mcpbridge.cjs`;

/** What every child gets; not this process's environment, whose settings would change what is tested. */
export const plainEnv = (): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  LANG: 'C.UTF-8',
});

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Resolves when the process is gone, also when it already is. */
export async function ended(child: ChildProcess): Promise<Ended> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode, signal: child.signalCode };
}

/** Starts `node file …` with pipes; `wrapper` is a command line that becomes it. */
export function startNode(
  file: string,
  args: string[] = [],
  env: NodeJS.ProcessEnv = {},
  cwd = root,
  wrapper: string[] = [],
): ChildProcess {
  const [program = '', ...rest] = [...wrapper, process.execPath, file, ...args];
  const child = spawn(program, rest, {
    cwd,
    env: { ...plainEnv(), ...env },
    stdio: 'pipe',
  });
  started.push(child);
  return child;
}

/** A test that failed half-way leaves its processes to this. */
const started: ChildProcess[] = [];
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await Promise.all(started.map(ended));
});

/** True while a process of this id exists (a zombie counts as gone). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits until `condition` holds, looking again whenever 20 ms have passed; for what offers no event to await. */
export async function eventually<T>(
  what: string,
  condition: () => T | Promise<T>,
  withinMs = 10_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    if (Date.now() > deadline) throw new Error(`Within ${withinMs} ms it did not come true that ${what}.`);
    await new Promise((next) => setTimeout(next, 20));
  }
}
