import type { ChildProcess } from 'node:child_process';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Ended, Launch, Started } from './sandbox.js';

/** What the whole tree is in, where there is something. */
export interface Group {
  kill(): void;
  wasOutOfMemory(): boolean;
  remove(): void;
}

/** A child of this process as a running command. `killTree` ends what the end of the child does not. */
export async function startedFrom(
  child: ChildProcess,
  stdin: Launch['stdin'],
  group: Group | undefined,
  killTree: () => void = () => child.kill('SIGKILL'),
): Promise<Started> {
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      const outOfMemory = group?.wasOutOfMemory() ?? false;
      group?.remove();
      resolve({ code, signal, outOfMemory });
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => {
      group?.remove();
      reject(new AppError('SANDBOX_UNAVAILABLE', `The command did not start: ${cause.message}.`, { cause }));
    });
  });
  // A command need not read what it is given.
  child.stdin?.on('error', () => undefined);
  const feed = (text: string, isLast: boolean) => {
    if (isLast) child.stdin?.end(text);
    else child.stdin?.write(text);
  };
  if (stdin) feed(stdin.text, !stdin.more);
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new TypeError('The child was started without pipes.');
  return {
    stdout,
    stderr,
    ended,
    feed,
    kill() {
      killTree();
      group?.kill();
    },
  };
}
