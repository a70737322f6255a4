import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Cgroups } from './cgroups.js';
import { copyConfiguration } from './etc-copy.js';
import type { MachinePaths } from './machine-paths.js';
import { mountedFolders, mountsOf } from './mounts.js';
import { joinLine, limitsLine, processesLine, sameFoldersLine } from './prelude.js';
import { findProgram } from './programs.js';
import type { Launch, Mechanism, Started } from './sandbox.js';
import { seccompFilter } from './seccomp.js';
import { startedFrom } from './started.js';

interface Parts {
  machine: MachinePaths;
  cgroups: Cgroups | undefined;
  /** For files of the mechanism itself. */
  folder: string;
}

/** Namespaces of its own for every command: files, processes, network, memory that is shared. */
export function bubblewrap({ machine, cgroups, folder }: Parts): Mechanism {
  const program = findProgram('bwrap');
  if (!program) throw unavailable('bubblewrap is not installed');
  const filter = seccompFilter('namespaces');
  const filterFile = join(folder, 'seccomp.bpf');
  if (filter) writeFileSync(filterFile, filter, { mode: 0o600 });
  const nsenter = findProgram('nsenter');
  const isRoot = process.getuid?.() === 0;
  const view = {
    machine,
    etc: copyConfiguration(machine.configuration, join(folder, 'etc')),
    asRoot: isRoot,
  };

  function start(launch: Launch): Promise<Started> {
    const group = cgroups?.create(launch.limits);
    const { network } = launch;
    const enter = network ? enterArguments(network.pid) : [];
    const prelude = lines(joinLine(group?.folders ?? []), limitsLine(launch.limits));
    // Bubblewrap takes folders by name; that they are the ones that were judged can only be seen within.
    const script = lines(
      sameFoldersLine(mountedFolders(launch.confinement)),
      isRoot ? '' : processesLine(launch.limits.processes),
      'exec "$@"',
    );
    const inside = ['/bin/sh', '-c', script, 'sh', ...launch.argv];
    const child = spawn(
      '/bin/sh',
      [
        '-c',
        `${prelude}; exec "$@"${filter ? ' 3<"$0"' : ''}`,
        filterFile,
        ...enter,
        program as string,
        ...namespaces(network !== undefined),
        ...mountsOf(launch.confinement, view),
        ...['--chdir', launch.cwd],
        ...(filter ? ['--seccomp', '3'] : []),
        '--',
        ...inside,
      ],
      {
        cwd: '/',
        env: { ...launch.env, HOME: '/tmp', TMPDIR: '/tmp' },
        stdio: [launch.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      },
    );
    return startedFrom(child, launch.stdin, group);
  }

  /** `nsenter` becomes bubblewrap, so that its parent is still this process. */
  function enterArguments(pid: number): string[] {
    if (!nsenter) throw unavailable('the program "nsenter" (util-linux) is not installed');
    return [nsenter, '-t', String(pid), '-n', ...(isRoot ? [] : ['-U', '--preserve-credentials']), '--'];
  }

  return {
    name: 'bubblewrap',
    reach: nsenter ? 'namespace' : 'none',
    tree: 'namespace',
    start,
    close: async () => undefined,
  };
}

const lines = (...all: string[]) => all.filter(Boolean).join('; ');

function namespaces(inNetwork: boolean): string[] {
  return [
    '--unshare-all',
    ...(inNetwork ? ['--share-net'] : []),
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    '--hostname',
    'workspace',
  ];
}

function unavailable(reason: string): AppError {
  return new AppError('SANDBOX_UNAVAILABLE', `Commands cannot be confined: ${reason}.`);
}
