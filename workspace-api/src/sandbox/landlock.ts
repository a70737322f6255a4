import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { AppError } from '@mcpbridge/shared/errors.js';
import { guardGroup, releaseGroup } from '@mcpbridge/shared/group-guard.js';
import type { Cgroups } from './cgroups.js';
import type { OrchestratorAddress } from './forward.js';
import { Gate } from './gate.js';
import { Jail } from './jail.js';
import type { JailData } from './jail-messages.js';
import { jailRules } from './jail-rules.js';
import type { MachinePaths } from './machine-paths.js';
import { isWithin } from './mounts.js';
import { Orphans } from './orphans.js';
import { limitsLine, processesLine } from './prelude.js';
import { COMMAND_MARK, killMarked, killTree } from './process-tree.js';
import type { Confinement, Launch, Mechanism, Started } from './sandbox.js';
import { seccompFilter } from './seccomp.js';
import { tasksOfUser } from './user-tasks.js';

interface Parts {
  machine: MachinePaths;
  cgroups: Cgroups | undefined;
  orchestrator: () => OrchestratorAddress | undefined;
}

/** Jails that nobody used for so long are closed; each is a thread. */
const IDLE_MS = 60_000;
const LOOK_EVERY_MS = 15_000;

/** Where there is no bubblewrap: the kernel's Landlock and seccomp, put on by a thread that then starts the command. */
export async function landlock({ machine, cgroups, orchestrator }: Parts): Promise<Mechanism> {
  const filter = seccompFilter('alone');
  const connecting = seccompFilter('connecting');
  if (!filter || !connecting) throw unavailable(`it is not known for ${process.arch} processors`);
  // Loaded here alone: it is native, and needed by nobody who has bubblewrap.
  const { adoptOrphans, landlockVersion, NEEDED_VERSION, reap } = await import('./landlock-calls.js');
  const version = landlockVersion();
  if (version < NEEDED_VERSION)
    throw unavailable(
      `the kernel's Landlock is version ${version}, not ${NEEDED_VERSION} or later (Linux 6.12)`,
    );
  // A control group knows all its processes, wherever they went; without one they are found as our children.
  const orphans = cgroups ? undefined : new Orphans(reap);
  if (orphans) adoptOrphans();
  // The threads that Node reads files with are started by the first use, and would be jailed if a jail were the first.
  await stat('/');

  const isRoot = process.getuid?.() === 0;
  const gate = new Gate(orchestrator);
  const jails = new Map<string, Promise<Jail>>();
  const sweep = setInterval(() => void closeIdle(), LOOK_EVERY_MS).unref();

  function jailFor({ confinement, address }: Launch): Promise<Jail> {
    const rules = jailRules(confinement, machine, address !== undefined);
    const key = JSON.stringify(rules);
    const known = jails.get(key);
    if (known) return known;
    const data = { rules, filter: rules.mayConnect ? connecting : filter };
    const opening = Jail.open(data as JailData, (listener) => gate.watch(listener));
    jails.set(key, opening);
    opening.catch(() => jails.delete(key));
    return opening;
  }

  /** One whose thread broke down is replaced. */
  async function openJail(launch: Launch): Promise<Jail> {
    const jail = await jailFor(launch);
    if (!jail.isOver) return jail;
    for (const [key, opening] of jails)
      if ((await opening.catch(() => undefined)) === jail) jails.delete(key);
    return jailFor(launch);
  }

  async function closeIdle(): Promise<void> {
    for (const [key, opening] of jails) {
      const jail = await opening.catch(() => undefined);
      if (!jail?.isIdle || performance.now() - jail.idleSince < IDLE_MS) continue;
      jails.delete(key);
      await jail.close();
    }
  }

  async function start(launch: Launch): Promise<Started> {
    checkBlocked(launch.confinement);
    // Without a group of its own it is counted with all that the user runs.
    const others = cgroups || isRoot ? undefined : await tasksOfUser();
    await openJail(launch);
    const group = cgroups?.create(launch.limits);
    const { scratch } = launch.confinement;
    const mark = randomUUID();
    const env = { ...launch.env, HOME: scratch, TMPDIR: scratch, [COMMAND_MARK]: mark };
    // It waits for its limits before it becomes the command.
    const limits = [limitsLine(launch.limits)];
    if (others !== undefined) limits.push(processesLine(others + launch.limits.processes));
    const script = `read -r go <&3; exec 3<&-; ${limits.join('; ')}; exec "$@"`;
    const argv = ['/bin/sh', '-c', script, 'sh', ...launch.argv];
    try {
      // Looked up again, as an idle jail may be closed while this waits for its turn.
      const first = async () =>
        (await openJail(launch)).start({ argv, cwd: launch.cwd, env, stdin: launch.stdin });
      const jailed = await (orphans ? orphans.starts(mark, first) : first());
      const { pid } = jailed;
      guardGroup(pid);
      const kill = () => {
        killTree(pid);
        if (group) group.kill();
        else killMarked(mark);
      };
      const ended = jailed.exited.then(async ({ code, signal }) => {
        kill();
        releaseGroup(pid);
        const outOfMemory = group?.wasOutOfMemory() ?? false;
        group?.remove();
        await orphans?.ended(pid, mark);
        await Promise.all([jailed.stdout, jailed.stderr].map(closed));
        return { code, signal, outOfMemory };
      });
      try {
        for (const folder of group?.folders ?? []) writeFileSync(join(folder, 'cgroup.procs'), String(pid));
      } catch (thrown) {
        // It would wait for its limits, and nobody reads what it prints.
        kill();
        for (const stream of [jailed.stdout, jailed.stderr]) stream.destroy();
        throw thrown;
      }
      jailed.go();
      return { stdout: jailed.stdout, stderr: jailed.stderr, ended, feed: jailed.feed, kill };
    } catch (thrown) {
      group?.remove();
      throw thrown;
    }
  }

  return {
    name: 'landlock',
    reach: 'gate',
    tree: cgroups ? 'cgroup' : 'group',
    start,
    async close() {
      clearInterval(sweep);
      gate.close();
      for (const opening of jails.values()) await opening.then((jail) => jail.close()).catch(() => undefined);
    },
  };
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });
}

/** Landlock lets in what is below a folder; it cannot take a part of that away again. */
function checkBlocked({ read, write, blocked }: Confinement): void {
  const inside = blocked.find((path) => [...read, ...write].some((folder) => isWithin(path, folder)));
  if (inside === undefined) return;
  throw new AppError(
    'SANDBOX_UNAVAILABLE',
    `The folder "${inside}" is blocked within one that the session may use, which cannot be kept without bubblewrap: install it, or give the session other folders.`,
  );
}

function unavailable(reason: string): AppError {
  return new AppError('SANDBOX_UNAVAILABLE', `Landlock cannot be used: ${reason}.`);
}
