import { type Guard, isWithin } from '@mcpbridge/shared/folder-guard.js';
import { isAllowed } from '../root/guard-check.js';

/** Where one caller looks, as data that a thread can be given. All paths but `root` are relative to the workspace. */
export interface Scope {
  /** The workspace's real folder. */
  root: string;
  /** As the root adopted it. */
  guard: Guard;
  /** The folder that is looked through. */
  folder: string;
}

/** What belongs to git is never looked through: it is large, and nobody means it. */
const SKIPPED = '.git';

export function maySee(scope: Scope, path: string): boolean {
  return isAllowed(scope.guard, path, 'read');
}

/** Also the folders on the way to what may be seen. */
export function mayEnter(scope: Scope, path: string): boolean {
  return isAllowed(scope.guard, path, 'list');
}

export function isSkipped(name: string): boolean {
  return name === SKIPPED;
}

/** The topmost folders within the scope's that may be seen whole, less what is blocked in them. */
export function topFolders(scope: Scope): string[] {
  const { guard, folder } = scope;
  if (maySee(scope, folder)) return [folder];
  const below = [...guard.read, ...guard.write].filter((one) => isWithin(one, folder) && maySee(scope, one));
  return below.filter((one, at) => !below.some((other, index) => contains(other, one, index < at)));
}

function contains(outer: string, inner: string, isEarlier: boolean): boolean {
  return outer === inner ? isEarlier : isWithin(inner, outer);
}

/** In the order in which folders are gone through: by names, one level after the other. */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [a.replaceAll('/', '\0'), b.replaceAll('/', '\0')];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
