import { posix } from 'node:path';
import { type Guard, isWithin } from '@mcpbridge/shared/folder-guard.js';
import { isReserved, notAllowed } from './paths.js';

/** `list`: also the folders on the way to what may be read, of which only that way is shown. */
export type Access = 'read' | 'write' | 'list';

/** @throws PATH_NOT_ALLOWED; the answer is the same whether there is anything at the path or not */
export function checkGuard(guard: Guard, path: string, access: Access, given: string): void {
  if (isAllowed(guard, path, access)) return;
  const why = isBlocked(guard, path)
    ? 'is in a blocked folder'
    : `is not within the folders that this session may ${access === 'write' ? 'write' : 'read'}`;
  throw notAllowed(given, why);
}

export function isAllowed(guard: Guard, path: string, access: Access): boolean {
  if (isBlocked(guard, path) || path.split('/').some(isReserved)) return false;
  if (guard.write.some((folder) => isWithin(path, folder))) return true;
  if (access === 'write') return false;
  if (guard.read.some((folder) => isWithin(path, folder))) return true;
  return access === 'list' && [...guard.read, ...guard.write].some((folder) => isWithin(folder, path));
}

function isBlocked({ blocked }: Guard, path: string): boolean {
  return blocked.some((folder) => isWithin(path, folder));
}

/**
 * To take something away from its folder, or put something there by name, is to write that folder: what the session was
 * given stays. Nor may anything blocked go along, since it would be blocked no longer where it went.
 * @throws PATH_NOT_ALLOWED
 */
export function checkEntry(guard: Guard, path: string, given: string): void {
  const above = posix.dirname(path);
  if (path === '' || !isAllowed(guard, above === '.' ? '' : above, 'write'))
    throw notAllowed(given, 'is a folder that the session was given, which stays where it is');
  if (guard.blocked.some((folder) => isWithin(folder, path)))
    throw notAllowed(given, 'has a blocked folder in it');
}
