import type { Dirent, Stats } from 'node:fs';
import { mkdir, open, readdir, readlink, rename, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { type Guard, isWithin } from '@mcpbridge/shared/folder-guard.js';
import type { Changes } from '../changes.js';
import { checkEntry } from '../root/guard-check.js';
import { type OpenFolder, walk } from '../root/open-folders.js';
import { notAllowed, quoted } from '../root/paths.js';
import { type Place, READ_FLAGS, type WorkspaceRoot } from '../root/workspace-root.js';
import { missing, statsAt, taken } from './files.js';
import { chunksOf, writeTemporary } from './temporary.js';
import type { Versions } from './versions.js';

interface Transfer {
  from: string;
  to: string;
  /** A file may take the place of another one. */
  overwrite?: boolean;
}

/** Whole folders, and what a file and a folder have in common: to be moved and copied. */
export class Folders {
  constructor(
    private readonly root: WorkspaceRoot,
    private readonly versions: Versions,
    private readonly changes: Changes,
  ) {}

  /** With those on the way; false: it was there. */
  make(guard: Guard, given: string): Promise<boolean> {
    const makeAt = async ({ at, stats, path }: Place) => {
      if (path === '' || stats?.isDirectory()) return false;
      if (stats) throw taken(given);
      await mkdir(at);
      this.changes.tell({ kind: 'written', path });
      return true;
    };
    return this.root.at(guard, given, 'write', makeAt, { create: true });
  }

  /** Unless `recursive`, an empty one alone. The files are kept as versions. */
  remove(guard: Guard, given: string, recursive: boolean): Promise<void> {
    const removeAt = async (place: Place) => {
      if (!place.stats) throw missing(given);
      if (!place.stats.isDirectory()) throw new AppError('CONFLICT', `${quoted(given)} is no folder.`);
      checkEntry(guard, place.path, given);
      if (recursive) await this.empty(place);
      await rmdir(place.at);
      this.changes.tell({ kind: 'deleted', path: place.path });
    };
    return this.root.at(guard, given, 'write', removeAt, { follow: false });
  }

  /** To another name; versions go with it. Answers the new path, relative to the workspace. */
  move(guard: Guard, transfer: Transfer): Promise<string> {
    return this.between(guard, 'write', transfer, async (from, to) => {
      checkEntry(guard, from.path, transfer.from);
      await rename(from.at, to.at).catch(async (error) => {
        if (error.code !== 'EXDEV') throw error;
        await this.copyEntry(guard, from, to, transfer.from);
        if (from.stats?.isDirectory()) await this.empty(from).then(() => rmdir(from.at));
        else await unlink(from.at);
      });
      await this.versions.moved(from.path, to.path);
      this.changes.tell({ kind: 'moved', path: to.path, from: from.path });
    });
  }

  /** Links are copied as links; what is neither file, folder nor link is left out. */
  copy(guard: Guard, transfer: Transfer): Promise<string> {
    return this.between(guard, 'read', transfer, async (from, to) => {
      await this.copyEntry(guard, from, to, transfer.from);
      this.changes.tell({ kind: 'written', path: to.path });
    });
  }

  private between(
    guard: Guard,
    access: 'read' | 'write',
    { from: given, to: destination, overwrite = false }: Transfer,
    act: (from: Place, to: Place) => Promise<void>,
  ): Promise<string> {
    const both = async (from: Place, to: Place) => {
      const stats = await statsAt(from);
      if (!stats) throw missing(given);
      checkEntry(guard, to.path, destination);
      if (isWithin(to.path, from.path)) throw notAllowed(destination, `is within ${quoted(given)} itself`);
      const replaced = await statsAt(to);
      if (replaced && !(overwrite && replaced.isFile() && stats.isFile())) throw taken(destination);
      if (replaced) await this.versions.keep(to);
      await act({ ...from, stats }, to);
      return to.path;
    };
    const looking = { follow: access === 'read' };
    return this.root.at(
      guard,
      given,
      access,
      (from) =>
        this.root.at(
          guard,
          destination,
          'write',
          (to) => this.root.locks.runBoth(from.path, to.path, () => both(from, to)),
          { create: true, follow: false },
        ),
      looking,
    );
  }

  private async copyEntry(guard: Guard, from: Place, to: Place, given: string): Promise<void> {
    if (!from.stats?.isDirectory()) {
      await this.copyInPlace(from, to, given);
      return;
    }
    const source = await walk(from.folder, [from.name], false);
    try {
      const target = await walk(to.folder, [to.name], true);
      await this.copyInto(guard, source, target).finally(() => target.handle.close());
    } finally {
      await source.handle.close();
    }
  }

  /** Beside it first, as every write. */
  private async copyInPlace(from: Place, to: Place, given: string): Promise<void> {
    const source = await open(from.at, READ_FLAGS);
    try {
      const stats = await source.stat();
      if (!isCopyable(stats)) throw notAllowed(given, 'is no file, or has another name, too');
      const temporary = await writeTemporary(to.folder, chunksOf(source));
      try {
        await temporary.handle.chmod(stats.mode & 0o777);
        await rename(temporary.at, to.at);
      } finally {
        await temporary.end();
      }
    } finally {
      await source.close();
    }
  }

  private async copyInto(guard: Guard, source: OpenFolder, target: OpenFolder): Promise<void> {
    for (const entry of await entriesOf(source)) {
      const { name } = entry;
      if (!this.root.isReadable(guard, posix.join(source.path, name))) continue;
      if (entry.isSymbolicLink()) await symlink(await readlink(source.at(name)), target.at(name));
      else if (entry.isFile()) await copyFile(source.at(name), target.at(name));
      else if (entry.isDirectory()) {
        const inner = await walk(source, [name], false);
        const made = await walk(target, [name], true).catch(async (error) => {
          await inner.handle.close();
          throw error;
        });
        await this.copyInto(guard, inner, made).finally(() => closeBoth(inner, made));
      }
    }
  }

  private async empty({ folder, name }: Place): Promise<void> {
    const inner = await walk(folder, [name], false);
    await this.emptyFolder(inner).finally(() => inner.handle.close());
  }

  private async emptyFolder(folder: OpenFolder): Promise<void> {
    for (const entry of await entriesOf(folder)) {
      const at = folder.at(entry.name);
      if (entry.isDirectory()) {
        const inner = await walk(folder, [entry.name], false);
        await this.emptyFolder(inner).finally(() => inner.handle.close());
        await rmdir(at);
        continue;
      }
      if (entry.isFile()) await this.versions.keep({ path: posix.join(folder.path, entry.name), at });
      await unlink(at);
    }
  }
}

async function entriesOf(folder: OpenFolder): Promise<Dirent[]> {
  return readdir(folder.at('.'), { withFileTypes: true });
}

async function closeBoth(...folders: OpenFolder[]): Promise<void> {
  await Promise.all(folders.map(({ handle }) => handle.close()));
}

async function copyFile(from: string, to: string): Promise<void> {
  const source = await open(from, READ_FLAGS);
  try {
    const stats = await source.stat();
    if (isCopyable(stats)) await writeFile(to, chunksOf(source), { flag: 'wx', mode: stats.mode & 0o777 });
  } finally {
    await source.close();
  }
}

/** Of a file with several names another may be in a folder that must not be read. */
function isCopyable(stats: Stats): boolean {
  return stats.isFile() && stats.nlink === 1;
}
