import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { filterMatcher, folderOfGlob, globMatcher } from './globs.js';
import { type Match, matcherOf, matchFile, type Search } from './match-file.js';
import { maySee, type Scope } from './scope.js';
import { walk } from './walk.js';

/** What a thread is asked to do. */
export type Task =
  | { kind: 'glob'; scope: Scope; glob: GlobTask }
  | { kind: 'walk'; scope: Scope; search: Search; globs?: string; limit: number; until?: number }
  | { kind: 'read'; scope: Scope; search: Search; globs?: string; paths: string[]; limit: number };

export interface GlobTask {
  pattern: string;
  folders: boolean;
  maxDepth?: number;
  offset: number;
  limit: number;
}

export interface Found {
  path: string;
  isFolder: boolean;
  bytes: number;
  modified: number;
}

export interface Globbed {
  found: Found[];
  total: number;
}

/** One more than `limit` matches are looked for, so that it is known whether there are more. */
export interface Searched {
  matches: Match[];
  /** The time was over after this file. */
  upTo?: string;
}

export function glob({
  scope,
  glob: { pattern, folders, maxDepth, offset, limit },
}: TaskOf<'glob'>): Globbed {
  const matches = globMatcher(pattern);
  const start = narrowed(scope, folderOfGlob(pattern));
  const depth = maxDepth === undefined ? undefined : maxDepth - levels(start.folder) + levels(scope.folder);
  const found: Found[] = [];
  let total = 0;
  for (const { path, isFolder } of walk(start, depth)) {
    if ((isFolder && !folders) || !matches(below(scope.folder, path))) continue;
    if (total >= offset && found.length < limit) found.push(described(scope.root, path, isFolder));
    total += 1;
  }
  return { found, total };
}

export function searchAll({ scope, search, globs, limit, until }: TaskOf<'walk'>): Searched {
  return matchAll(scope, filesOf(scope), search, globs, limit, until);
}

export function searchSome({ scope, search, globs, paths, limit }: TaskOf<'read'>): Searched {
  const allowed = paths.filter((path) => maySee(scope, path));
  return matchAll(scope, allowed, search, globs, limit);
}

type TaskOf<Kind extends Task['kind']> = Extract<Task, { kind: Kind }>;

function matchAll(
  scope: Scope,
  paths: Iterable<string>,
  search: Search,
  globs: string | undefined,
  limit: number,
  until = Number.POSITIVE_INFINITY,
): Searched {
  const wanted = filterMatcher(globs);
  const matcher = matcherOf(search);
  const matches: Match[] = [];
  for (const path of paths) {
    if (wanted(below(scope.folder, path)))
      matches.push(...matchFile(scope.root, path, matcher, limit + 1 - matches.length));
    if (matches.length > limit) break;
    if (Date.now() >= until) return { matches, upTo: path };
  }
  return { matches };
}

function* filesOf(scope: Scope): Generator<string> {
  for (const { path, isFolder } of walk(scope)) if (!isFolder) yield path;
}

/** The path below a folder. */
export function below(folder: string, path: string): string {
  return folder === '' ? path : path.slice(folder.length + 1);
}

/** `..` in a glob fits nothing, and leads nowhere. */
function narrowed(scope: Scope, base: string): Scope {
  const names = base.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..') || names.length === 0) return scope;
  return { ...scope, folder: [scope.folder, ...names].filter(Boolean).join('/') };
}

function levels(path: string): number {
  return path === '' ? 0 : path.split('/').length;
}

function described(root: string, path: string, isFolder: boolean): Found {
  const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
  return { path, isFolder, bytes: isFolder ? 0 : (stats?.size ?? 0), modified: stats?.mtimeMs ?? 0 };
}
