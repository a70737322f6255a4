import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { guardGroup, releaseGroup } from '@mcpbridge/shared/group-guard.js';
import { limitsLine } from './prelude.js';
import { COMMAND_MARK, killMarked, killTree } from './process-tree.js';
import type { Launch, Mechanism, Started } from './sandbox.js';
import { startedFrom } from './started.js';

/** No confinement: the command may do whatever this program may. Only where the operator says so. */
export function unsafe(): Mechanism {
  return {
    name: 'unsafe',
    reach: 'direct',
    tree: 'group',
    start: (launch) => startInGroup(launch, []),
    close: async () => undefined,
  };
}

/** In a process group of its own, which is all that holds it together; `wrapper` is a program that confines it. */
export async function startInGroup(launch: Launch, wrapper: readonly string[]): Promise<Started> {
  const mark = randomUUID();
  const { scratch } = launch.confinement;
  const child = spawn(
    '/bin/sh',
    ['-c', `${limitsLine(launch.limits)}; exec "$@"`, 'sh', ...wrapper, ...launch.argv],
    {
      cwd: launch.cwd,
      env: { ...launch.env, HOME: scratch, TMPDIR: scratch, [COMMAND_MARK]: mark },
      detached: true,
      stdio: [launch.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    },
  );
  const { pid } = child;
  const kill = () => {
    if (pid === undefined) return;
    killTree(pid);
    if (process.platform === 'linux') killMarked(mark);
  };
  if (pid !== undefined) guardGroup(pid);
  child.once('exit', () => {
    kill();
    if (pid !== undefined) releaseGroup(pid);
  });
  return startedFrom(child, launch.stdin, undefined, kill);
}
