import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import type { MachinePaths } from './machine-paths.js';
import type { Confinement } from './sandbox.js';

const SHARED_MEMORY_BYTES = 64 * 1024 * 1024;
const TEMPORARY_BYTES = 256 * 1024 * 1024;

/** Where root's own write permissions on files would reach the kernel of the machine; bubblewrap covers the rest. */
const KERNEL_FOLDERS = ['/proc/sys', '/proc/fs', '/proc/sysrq-trigger'];

interface View {
  machine: MachinePaths;
  /** A folder that stands for /etc: one mount instead of one for each file of it. */
  etc: string;
  asRoot: boolean;
}

/** What there is in the file system of a command, as bubblewrap's arguments: everything else does not exist. */
export function mountsOf(confinement: Confinement, { machine, etc, asRoot }: View): string[] {
  return [
    ...machine.readable.flatMap((path) => ['--ro-bind', path, path]),
    ...machine.links.flatMap(({ at, to }) => ['--symlink', to, at]),
    ...['--ro-bind', etc, '/etc', '--proc', '/proc'],
    ...(asRoot ? KERNEL_FOLDERS.filter(exists).flatMap((path) => ['--ro-bind', path, path]) : []),
    ...[
      '--dev',
      '/dev',
      '--size',
      String(SHARED_MEMORY_BYTES),
      '--tmpfs',
      '/dev/shm',
      '--remount-ro',
      '/dev',
    ],
    ...temporary(confinement),
    ...folders(confinement),
    ...blocked(confinement),
    ...['--remount-ro', '/'],
  ];
}

/**
 * The session's own folder, so that one command finds there what another left. Not where folders of the session are
 * within /tmp: what commands leave there could then be on the way to them.
 */
function temporary({ read, write, scratch }: Confinement): string[] {
  const isAbove = [...read, ...write].some((folder) => isWithin(folder, '/tmp'));
  return isAbove ? ['--size', String(TEMPORARY_BYTES), '--tmpfs', '/tmp'] : ['--bind', scratch, '/tmp'];
}

/** Those of the session that the command gets, each at its own path, with what they must be. */
export function mountedFolders(confinement: Confinement): Map<string, string> {
  const { identities } = confinement;
  return new Map(mounted(confinement).flatMap((folder) => [[folder, identities[folder] ?? '']]));
}

/** Outer ones first; one to read that is within one to write is to write. */
function mounted({ read, write, blocked: paths }: Confinement): string[] {
  const isBlocked = (folder: string) => paths.some((path) => isWithin(folder, path));
  const onlyRead = read.filter((folder) => !write.some((outer) => isWithin(folder, outer)));
  return [...new Set([...onlyRead, ...write])]
    .filter((folder) => !isBlocked(folder))
    .sort((a, b) => a.length - b.length);
}

function folders(confinement: Confinement): string[] {
  const { home, write } = confinement;
  const all = mounted(confinement);
  const binds = all.flatMap((folder) => [write.includes(folder) ? '--bind' : '--ro-bind', folder, folder]);
  return all.some((folder) => isWithin(home, folder)) ? binds : [...binds, '--dir', home];
}

/** Covered; and no folder above may be renamed, which would uncover it for the next command. */
function blocked({ read, write, blocked: paths }: Confinement): string[] {
  const pinned = new Set<string>();
  const covers = paths.flatMap((path) => {
    const outer = [...read, ...write].filter((folder) => isWithin(path, folder));
    if (outer.length === 0) return [];
    const top = write.filter((folder) => isWithin(path, folder)).sort((a, b) => a.length - b.length)[0];
    if (top !== undefined && exists(path)) {
      for (let above = dirname(path); isWithin(above, top) && above !== top; above = dirname(above))
        pinned.add(above);
    }
    return hidden(path);
  });
  const pins = [...pinned].sort((a, b) => a.length - b.length);
  return [...pins.flatMap((folder) => ['--bind', folder, folder]), ...covers];
}

/** A link is left as it is: what it leads to has a path of its own. */
function hidden(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || stats.isSymbolicLink()) return [];
  return stats.isDirectory() ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path];
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
