import type { BigIntStats } from 'node:fs';
import { lstat, rename, unlink } from 'node:fs/promises';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import type { Changes } from '../changes.js';
import { checkEntry } from '../root/guard-check.js';
import { notAllowed, quoted } from '../root/paths.js';
import type { OpenFile, Place, WorkspaceRoot } from '../root/workspace-root.js';
import { type Conditions, checkConditions, etagOf } from './etag.js';
import { chunksOf, type Source, type Temporary, writeTemporary } from './temporary.js';
import type { Versions } from './versions.js';

export interface Written {
  /** Relative to the workspace. */
  path: string;
  stats: BigIntStats;
  etag: string;
  /** False: it replaced a file. */
  created: boolean;
}

export interface WriteOptions extends Conditions {
  /** Refuse when there is something already. */
  onlyNew?: boolean;
}

/** Single files, by the rules of the root: written whole or not at all, and what was there before is kept. */
export class Files {
  constructor(
    private readonly root: WorkspaceRoot,
    private readonly versions: Versions,
    private readonly changes: Changes,
  ) {}

  /** Whoever gets it closes the handle. */
  open(guard: Guard, path: string): Promise<OpenFile> {
    return this.root.openFile(guard, path);
  }

  /**
   * Writes the file with what `source` gives, beside the old one, then puts it into its place at once.
   * @throws CONFLICT, PRECONDITION_FAILED, PATH_NOT_ALLOWED, NO_SPACE
   */
  write(guard: Guard, given: string, source: Source, options: WriteOptions = {}): Promise<Written> {
    return this.root.at(
      guard,
      given,
      'write',
      async (place) => {
        // What can be refused is, before anything is sent or written.
        check(place.stats, given, options);
        const temporary = await writeTemporary(place.folder, source);
        try {
          return await this.root.locks.run(place.path, () => this.put(place, given, temporary, options));
        } finally {
          await temporary.end();
        }
      },
      { create: true },
    );
  }

  /** As `write`, of a file that is on the disk already; of another disk it is copied. */
  adopt(guard: Guard, given: string, whole: Temporary, options: WriteOptions = {}): Promise<Written> {
    const adoptAt = async (place: Place) => {
      try {
        return await this.put(place, given, whole, options);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
      }
      const near = await writeTemporary(place.folder, chunksOf(whole.handle));
      return this.put(place, given, near, options).finally(() => near.end());
    };
    const locked = (place: Place) => this.root.locks.run(place.path, () => adoptAt(place));
    return this.root.at(guard, given, 'write', locked, { create: true });
  }

  /** Reads, changes and writes a file, with nobody else writing it meanwhile. `change` gets undefined where there is none. */
  update(
    guard: Guard,
    given: string,
    change: (before: OpenFile | undefined) => Promise<Uint8Array>,
    conditions: Conditions = {},
  ): Promise<Written> {
    const changeAt = async (place: Place) => {
      const before = (await statsAt(place)) ? await this.root.openFile(guard, given, true) : undefined;
      try {
        checkConditions(conditions, before?.stats, given);
        const temporary = await writeTemporary(place.folder, [await change(before)]);
        const expected = before ? { ifMatch: etagOf(before.stats) } : { onlyNew: true };
        return await this.put(place, given, temporary, expected).finally(() => temporary.end());
      } finally {
        await before?.handle.close();
      }
    };
    const locked = (place: Place) => this.root.locks.run(place.path, () => changeAt(place));
    return this.root.at(guard, given, 'write', locked, { create: true });
  }

  /** A file, or a link itself; the file is kept as a version. */
  remove(guard: Guard, given: string, conditions: Conditions = {}): Promise<void> {
    const removeAt = async (place: Place) => {
      const stats = await statsAt(place);
      if (!stats) throw missing(given);
      if (stats.isDirectory())
        throw new AppError('CONFLICT', `${quoted(given)} is a folder: DELETE /api/folders/… removes it.`);
      checkEntry(guard, place.path, given);
      checkConditions(conditions, stats, given);
      if (stats.isFile()) await this.versions.keep(place);
      await unlink(place.at);
      this.changes.tell({ kind: 'deleted', path: place.path });
    };
    const locked = (place: Place) => this.root.locks.run(place.path, () => removeAt(place));
    return this.root.at(guard, given, 'write', locked, { follow: false });
  }

  /** The last step of every write; nobody else writes this path meanwhile. */
  private async put(
    place: Place,
    given: string,
    temporary: Temporary,
    options: WriteOptions,
  ): Promise<Written> {
    const before = await statsAt(place);
    check(before, given, options);
    if (before) await temporary.handle.chmod(Number(before.mode) & 0o777);
    const kept = before && (await this.versions.keep(place));
    await rename(temporary.at, place.at).catch(async (error) => {
      await kept?.forget();
      throw error;
    });
    const stats = await temporary.handle.stat({ bigint: true });
    this.changes.tell({ kind: 'written', path: place.path });
    return { path: place.path, stats, etag: etagOf(stats), created: !before };
  }
}

function check(stats: BigIntStats | undefined, given: string, options: WriteOptions): void {
  if (stats && options.onlyNew) throw taken(given);
  if (stats?.isDirectory()) throw new AppError('CONFLICT', `${quoted(given)} is a folder.`);
  if (stats && !stats.isFile()) throw notAllowed(given, 'is no file');
  checkConditions(options, stats, given);
}

/** What is there now, links not followed. */
export async function statsAt({ at }: Place): Promise<BigIntStats | undefined> {
  try {
    return await lstat(at, { bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function missing(path: string): AppError {
  return new AppError('NOT_FOUND', `There is no file or folder ${quoted(path)}.`);
}

export function taken(path: string): AppError {
  return new AppError('CONFLICT', `There is something at ${quoted(path)} already.`);
}
