import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { type Guard, isWithin } from '@mcpbridge/shared/folder-guard.js';
import { fileError } from './file-error.js';
import { FileLocks } from './file-locks.js';
import { type Access, checkGuard, isAllowed } from './guard-check.js';
import { type OpenFolder, openRoot, walk } from './open-folders.js';
import { lexicalPath, notAllowed, STATE_FOLDER } from './paths.js';

/** Where a path really is: no link is on the way, and the folder it is in is open. */
export interface Place {
  /** Relative to the workspace; `''` is the workspace itself. */
  readonly path: string;
  readonly folder: OpenFolder;
  /** In `folder`; `.` for the workspace itself. */
  readonly name: string;
  /** For system calls. Whoever opens it follows no link (O_NOFOLLOW) and looks at what was opened. */
  readonly at: string;
  /** What was there a moment ago, the link itself where `follow` is off; undefined: nothing. */
  readonly stats: BigIntStats | undefined;
}

/** Absolute; see `Confinement` of the sandbox. */
export interface SandboxFolders {
  home: string;
  read: string[];
  write: string[];
  blocked: string[];
  identities: Record<string, string>;
}

export interface OpenFile {
  handle: FileHandle;
  stats: BigIntStats;
  /** Relative to the workspace. */
  path: string;
}

interface Looking {
  /** Make the folders on the way. */
  create?: boolean;
  /** False: a link at the end is taken as itself, to move or delete it. */
  follow?: boolean;
}

/** Somebody may be exchanging links while we look. */
const ATTEMPTS = 3;
/** No link is followed, and a pipe without a writer does not hold us up. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The only place that turns a path that somebody gives into a real one. Paths are judged twice: as they were given, and
 * as they are once links are followed; then the folders are opened one by one without following any, so that what is
 * used is what was judged, whatever is exchanged meanwhile.
 */
export class WorkspaceRoot {
  readonly locks = new FileLocks();

  private constructor(
    /** Real and absolute. */
    readonly folder: string,
    private readonly root: OpenFolder,
    /** Folders that nobody sees, relative to the workspace. */
    private readonly hidden: readonly string[],
  ) {}

  /** `hidden`: absolute folders that no session may have, wherever they are. */
  static async open(folder: string, hidden: readonly string[] = []): Promise<WorkspaceRoot> {
    await mkdir(join(folder, STATE_FOLDER), { recursive: true, mode: 0o700 });
    const real = await realpath(folder);
    const inside: string[] = [STATE_FOLDER];
    for (const one of hidden) {
      const path = relative(real, await realpath(one).catch(() => one));
      if (!path.startsWith('..')) inside.push(path.split(sep).join('/'));
    }
    return new WorkspaceRoot(real, await openRoot(real), inside);
  }

  /** Of the workspace itself: versions, indexes. On the same disk as the files, so that they can be moved there. */
  get stateFolder(): string {
    return join(this.folder, STATE_FOLDER);
  }

  close(): Promise<void> {
    return this.root.handle.close();
  }

  /** A guard as it came, with its folders in plain form and what nobody sees blocked; all else here expects that. */
  adopt(guard: Guard): Guard {
    const plain = (folders: readonly string[]) => folders.map((one) => lexicalPath(one, '', this.folder));
    const [home = ''] = plain([guard.home]);
    const blocked = [...plain(guard.blocked), ...this.hidden];
    return { ...guard, home, read: plain(guard.read), write: plain(guard.write), blocked };
  }

  /** Lets `use` work at the path while the folder it is in stays open. Failures name the path as it was given. */
  async at<T>(
    guard: Guard,
    given: string,
    access: Access,
    use: (place: Place) => Promise<T>,
    looking: Looking = {},
  ): Promise<T> {
    try {
      const place = await this.find(guard, given, access, looking);
      try {
        return await use(place);
      } finally {
        await place.folder.handle.close();
      }
    } catch (thrown) {
      throw fileError(thrown, given);
    }
  }

  /** For programs that take paths (they are guarded by the sandbox as well): where it really is, which must exist. */
  resolve(guard: Guard, given: string, access: Access): Promise<{ path: string; real: string }> {
    return this.at(guard, given, access, async ({ path, stats }) => {
      if (!stats) throw Object.assign(new Error(), { code: 'ENOENT' });
      return { path, real: join(this.folder, path) };
    });
  }

  /** Where a path leads, relative to the workspace, also where nothing is there any more. */
  async pathOf(guard: Guard, given: string, access: Access): Promise<string> {
    try {
      return await this.at(guard, given, access, async ({ path }) => path);
    } catch (thrown) {
      if (!(thrown instanceof AppError && thrown.code === 'NOT_FOUND')) throw thrown;
      return lexicalPath(given, guard.home, this.folder);
    }
  }

  /** Opens a regular file for reading; whoever gets it closes the handle. `locked`: the caller holds its lock. */
  openFile(guard: Guard, given: string, locked = false): Promise<OpenFile> {
    return this.at(guard, given, 'read', async ({ at, path }) => {
      const handle = await open(at, READ_FLAGS);
      try {
        let stats = await handle.stat({ bigint: true });
        // A file that is just being replaced has a second name for a moment: that of the version it becomes.
        if (stats.nlink > 1n && !locked) {
          await this.locks.settled(path);
          stats = await handle.stat({ bigint: true });
        }
        if (stats.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
        if (!stats.isFile()) throw notAllowed(given, 'is no file');
        // The other name may be one that this session must not read.
        if (stats.nlink > 1n) throw notAllowed(given, 'is a hard link: the file has another name, too');
        return { handle, stats, path };
      } catch (thrown) {
        await handle.close();
        throw thrown;
      }
    });
  }

  /** May the session see that there is something at this path, which is relative to the workspace? */
  isVisible(guard: Guard, path: string): boolean {
    return isAllowed(guard, path, 'list');
  }

  /** May it read what is there? */
  isReadable(guard: Guard, path: string): boolean {
    return isAllowed(guard, path, 'read');
  }

  /** A path relative to the workspace as the session calls it. */
  shown(guard: Guard, path: string): string {
    if (guard.home === '' || !isWithin(path, guard.home)) return path;
    return path.slice(guard.home.length + 1);
  }

  /**
   * The session's folders as real ones, for a sandbox: those to write are made, those to read that are missing are left
   * out. A sandbox takes them by name, later: `identities` says which they were (`device:inode`).
   */
  async foldersOf(guard: Guard): Promise<SandboxFolders> {
    const identities: Record<string, string> = {};
    const real = async (folders: string[], access: Access) => {
      const found: string[] = [];
      for (const folder of folders) {
        await this.at(guard, join(this.folder, folder), access, async ({ path, stats }) => {
          if (!stats) return;
          const absolute = join(this.folder, path);
          identities[absolute] = `${stats.dev}:${stats.ino}`;
          found.push(absolute);
        }).catch((error) => {
          if (error.code !== 'NOT_FOUND') throw error;
        });
      }
      return found;
    };
    await this.prepare(guard);
    return {
      home: join(this.folder, guard.home),
      read: await real(guard.read, 'read'),
      write: await real(guard.write, 'write'),
      blocked: guard.blocked.map((folder) => join(this.folder, folder)),
      identities,
    };
  }

  /** Makes the folders that the session may write. */
  async prepare(guard: Guard): Promise<void> {
    for (const folder of guard.write) {
      const names = folder.split('/').filter(Boolean);
      const made = await walk(this.root, names, true).catch((thrown) => {
        throw fileError(thrown, folder);
      });
      await made.handle.close();
    }
  }

  private async find(guard: Guard, given: string, access: Access, looking: Looking): Promise<Place> {
    const { create = false, follow = true } = looking;
    const wanted = lexicalPath(given, guard.home, this.folder);
    checkGuard(guard, wanted, access, given);
    for (let attempt = 1; ; attempt += 1) {
      const path = attempt === 1 ? wanted : await this.withoutLinks(wanted, given, follow);
      checkGuard(guard, path, access, given);
      const place = await this.open(path, create).catch((error: NodeJS.ErrnoException) => {
        // A link on the way, or a file: the next attempt tells.
        if ((error.code === 'ENOTDIR' || error.code === 'ELOOP') && attempt < ATTEMPTS) return undefined;
        throw error;
      });
      if (!place) continue;
      if (!follow || !place.stats?.isSymbolicLink()) return place;
      await place.folder.handle.close();
      if (attempt === ATTEMPTS) throw notAllowed(given, 'is a link that leads nowhere');
    }
  }

  private async open(path: string, create: boolean): Promise<Place> {
    const names = path === '' ? [] : path.split('/');
    const name = names.pop() ?? '.';
    const folder = await walk(this.root, names, create);
    const at = folder.at(name);
    try {
      const stats = await lstat(at, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return undefined;
      });
      return { path, folder, name, at, stats };
    } catch (thrown) {
      await folder.handle.close();
      throw thrown;
    }
  }

  /** The path with all links followed, as far as it exists. */
  private async withoutLinks(path: string, given: string, follow: boolean): Promise<string> {
    const names = path.split('/');
    const rest: string[] = follow ? [] : names.splice(-1);
    for (;;) {
      try {
        const real = await realpath(join(this.folder, ...names));
        const inside = relative(this.folder, real).split(sep).join('/');
        if (inside === '..' || inside.startsWith('../'))
          throw notAllowed(given, 'leads out of the workspace by a link');
        return [inside, ...rest].filter(Boolean).join('/');
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        const last = names.pop();
        if (code !== 'ENOENT' || last === undefined) throw error;
        rest.unshift(last);
      }
    }
  }
}
