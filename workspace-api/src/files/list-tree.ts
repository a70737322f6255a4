import { lstat, readdir } from 'node:fs/promises';
import { posix } from 'node:path';
import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import { type OpenFolder, walk } from '../root/open-folders.js';
import type { WorkspaceRoot } from '../root/workspace-root.js';
import { type Entry, entryOf } from './file-kind.js';

export interface TreePage {
  entries: Entry[];
  /** For `after` of the next page; undefined: there is no more. */
  next?: string;
}

interface TreeOptions {
  /** Folders below folders; 1: the folder's own entries. */
  maxDepth: number;
  limit: number;
  /** A path that an earlier page ended with. */
  after?: string | undefined;
}

/**
 * What is in a folder, each folder before what is in it, sorted by name: a page of it, so that any tree takes little
 * memory. Only what the session may see is listed.
 */
export function listTree(
  root: WorkspaceRoot,
  guard: Guard,
  given: string,
  { maxDepth, limit, after }: TreeOptions,
): Promise<TreePage> {
  return root.at(guard, given, 'list', async (place) => {
    const names = place.name === '.' ? [] : [place.name];
    const folder = await walk(place.folder, names, false);
    try {
      const entries: Entry[] = [];
      const skip = after === undefined ? [] : relativeParts(after, root.shown(guard, place.path));
      for await (const entry of below(root, guard, folder, maxDepth, skip)) {
        if (entries.length === limit) return { entries, next: entries.at(-1)?.filepath ?? '' };
        entries.push(entry);
      }
      return { entries };
    } finally {
      await folder.handle.close();
    }
  });
}

function relativeParts(path: string, folder: string): string[] {
  return posix.relative(folder, path).split('/');
}

async function* below(
  root: WorkspaceRoot,
  guard: Guard,
  folder: OpenFolder,
  depth: number,
  skip: readonly string[],
): AsyncGenerator<Entry> {
  const [first] = skip;
  const entries = await readdir(folder.at('.'), { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    const path = posix.join(folder.path, entry.name);
    if (first !== undefined && entry.name < first) continue;
    if (!root.isVisible(guard, path)) continue;
    const isCursor = entry.name === first;
    if (!isCursor) {
      const stats = await lstat(folder.at(entry.name), { bigint: true }).catch(() => undefined);
      // Gone while we looked.
      if (!stats) continue;
      yield entryOf(root.shown(guard, path), stats);
    }
    if (!entry.isDirectory() || depth <= 1) continue;
    const inner = await walk(folder, [entry.name], false).catch(() => undefined);
    if (!inner) continue;
    try {
      yield* below(root, guard, inner, depth - 1, isCursor ? skip.slice(1) : []);
    } finally {
      await inner.handle.close();
    }
  }
}
