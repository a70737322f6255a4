import { type ChildProcess, spawn } from 'node:child_process';

/**
 * A process that outlives this one, and learns of its end by the end of its stdin, however that came. It has a group of
 * its own, so a Ctrl-C does not reach it, and does not keep this process alive. `onLost` hears that it is not there any more.
 */
export function startOutliving(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  onLost: (child: ChildProcess) => void,
): ChildProcess {
  const child = spawn(command, args, {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env,
    windowsHide: true,
  });
  const lost = () => onLost(child);
  child.on('error', lost);
  child.on('exit', lost);
  child.stdin?.on('error', lost);
  child.unref();
  // A pipe to a child is a socket, which the type does not say.
  if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return child;
}
