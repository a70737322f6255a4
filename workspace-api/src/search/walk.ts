import { type Dirent, readdirSync } from 'node:fs';
import { openInside, pathOf } from './open-inside.js';
import { isSkipped, mayEnter, maySee, type Scope } from './scope.js';

export interface Entry {
  /** Relative to the workspace. */
  path: string;
  isFolder: boolean;
}

interface Listing {
  path: string;
  entries: Dirent[];
  next: number;
}

/**
 * Files and folders of the scope that its caller may see, in the order of `comparePaths`. Links are not followed, and
 * what is neither file nor folder is passed over. Only the listings on the way down are held.
 */
export function* walk(scope: Scope, maxDepth = Number.POSITIVE_INFINITY): Generator<Entry> {
  const stack: Listing[] = [listing(scope, scope.folder)];
  for (;;) {
    const top = stack.at(-1);
    if (!top) return;
    const entry = top.entries[top.next++];
    if (!entry) {
      stack.pop();
      continue;
    }
    if (isSkipped(entry.name)) continue;
    const path = top.path === '' ? entry.name : `${top.path}/${entry.name}`;
    if (entry.isDirectory() && mayEnter(scope, path)) {
      if (maySee(scope, path)) yield { path, isFolder: true };
      if (stack.length < maxDepth) stack.push(listing(scope, path));
    } else if (entry.isFile() && maySee(scope, path)) {
      yield { path, isFolder: false };
    }
  }
}

function listing({ root }: Scope, path: string): Listing {
  const read = (descriptor: number) =>
    readdirSync(pathOf(descriptor, root, path), { withFileTypes: true }).sort(byName);
  return { path, entries: openInside(root, path, read) ?? [], next: 0 };
}

function byName(a: Dirent, b: Dirent): number {
  if (a.name === b.name) return 0;
  return a.name < b.name ? -1 : 1;
}
