import type { BigIntStats } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import { quoted } from '../root/paths.js';
import { type OpenFile, type Place, READ_FLAGS } from '../root/workspace-root.js';
import { chunksOf } from './temporary.js';

export interface Version {
  id: string;
  size: number;
  /** When that content was written. */
  modified: string;
  /** When it was replaced or deleted, and so became a version. */
  replaced: string;
}

/** What is kept: a place, or as much as is known of one. */
type Kept = Pick<Place, 'path' | 'at'> & Partial<Pick<Place, 'stats'>>;

const PREFIX = '.mcpbridge-';
/** Of one file: so many, and beyond the latest so many bytes. */
const MAX_VERSIONS = 50;
const MAX_BYTES = 1024 ** 3;
/** Looking through the versions of a file takes longer than a write does: it is done so often, or after a large one. */
const PRUNE_EVERY = 16;
const LARGE = 16 * 1024 ** 2;
const MAX_COUNTED = 10_000;

/**
 * What files were before they were replaced or deleted. The old file itself is kept, by a second name in a tree beside
 * the workspace's own: that takes as long for 2 GB as for 2 bytes, starts no program, and no write waits for another
 * one's. A repository of git would read, hash and compress each content, one commit after the other.
 */
export class Versions {
  /** Writes until a file's versions are looked through again. */
  private readonly until = new Map<string, number>();

  constructor(private readonly folder: string) {}

  /** Keeps what is at the place now. It has two names until the place gets another content: `forget` where it does not. */
  async keep({ path, at, stats }: Kept): Promise<{ forget(): Promise<void> }> {
    const folder = this.folderOf(path);
    const kept = join(folder, PREFIX + timeOrderedId());
    await link(at, kept).catch(async (error) => {
      if (error.code !== 'ENOENT') return copy(at, kept);
      // The first version of this file.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return link(at, kept).catch(() => copy(at, kept));
    });
    // Nobody waits for what is only thrown away.
    if (this.isDue(folder, stats)) this.prune(folder).catch(() => undefined);
    return { forget: () => rm(kept, { force: true }) };
  }

  /** Newest first. */
  async list(path: string): Promise<Version[]> {
    const found = (await this.stats(this.folderOf(path))).slice(0, MAX_VERSIONS);
    return found.map(({ id, stats }) => ({
      id,
      size: Number(stats.size),
      modified: stats.mtime.toISOString(),
      replaced: new Date(timeOf(id)).toISOString(),
    }));
  }

  /** Opens a version for reading; whoever gets it closes the handle. `called`: how whoever asks calls the file. */
  async open(path: string, id: string, called: string): Promise<OpenFile> {
    const missing = () => new AppError('NOT_FOUND', `${quoted(called)} has no version ${quoted(id)}.`);
    if (!/^[0-9a-f-]{36}$/.test(id)) throw missing();
    const file = join(this.folderOf(path), PREFIX + id);
    const handle = await open(file, READ_FLAGS).catch(() => undefined);
    if (!handle) throw missing();
    const stats = await handle.stat({ bigint: true });
    // A second name is elsewhere in the workspace: what is there may be another session's.
    if (stats.isFile() && stats.nlink === 1n) return { handle, stats, path };
    await handle.close();
    throw missing();
  }

  /** The versions of a file or folder go with it, unless there are some at the new path. */
  async moved(from: string, to: string): Promise<void> {
    await mkdir(dirname(this.folderOf(to)), { recursive: true, mode: 0o700 });
    await rename(this.folderOf(from), this.folderOf(to)).catch(() => undefined);
  }

  private folderOf(path: string): string {
    return join(this.folder, path);
  }

  private async stats(folder: string): Promise<{ id: string; file: string; stats: BigIntStats }[]> {
    const entries = await readdir(folder).catch(() => []);
    const found: { id: string; file: string; stats: BigIntStats }[] = [];
    for (const name of entries.sort().reverse()) {
      if (!name.startsWith(PREFIX)) continue;
      const file = join(folder, name);
      const stats = await lstat(file, { bigint: true }).catch(() => undefined);
      if (stats) found.push({ id: name.slice(PREFIX.length), file, stats });
    }
    return found;
  }

  private isDue(folder: string, stats: BigIntStats | undefined): boolean {
    const left = (this.until.get(folder) ?? 1) - 1;
    if (this.until.size > MAX_COUNTED) this.until.clear();
    this.until.set(folder, left > 0 ? left : PRUNE_EVERY);
    return left <= 0 || (stats?.size ?? 0n) > LARGE;
  }

  private async prune(folder: string): Promise<void> {
    let bytes = 0n;
    for (const [index, { file, stats }] of (await this.stats(folder)).entries()) {
      bytes += stats.size;
      if (index > 0 && (index >= MAX_VERSIONS || bytes > MAX_BYTES)) await rm(file, { force: true });
    }
  }
}

/** What lies on another disk, or what the system lets only its owner link. */
async function copy(from: string, to: string): Promise<void> {
  const source = await open(from, READ_FLAGS);
  try {
    await writeFile(to, chunksOf(source), { mode: 0o600, flag: 'wx' });
  } finally {
    await source.close();
  }
}

/** Ids are of version 7: they begin with their time. */
function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
