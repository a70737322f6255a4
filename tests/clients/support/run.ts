import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { plainEnv } from '../../support/processes.js';

interface RunOptions {
  /** Default: the plain environment, so that settings of the person at the keyboard reach no client. */
  env?: NodeJS.ProcessEnv;
  cwd?: string;
}

/**
 * For a program that lives in `home` alone. What it wants of the wide network fails at once, with a network and
 * without: the result of a test must not depend on it.
 */
export const secludedEnv = (home: string): NodeJS.ProcessEnv => ({
  ...plainEnv(),
  HOME: home,
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
});

/** Runs a program to its end without input; answers its stdout, or fails with all that it wrote. */
export async function run(command: string, args: string[], options: RunOptions = {}): Promise<string> {
  const { env = plainEnv(), cwd } = options;
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  if (code === 0) return stdout;
  throw new Error(`${[command, ...args].join(' ')} ended with ${code ?? signal}:\n${stdout}\n${stderr}`);
}
