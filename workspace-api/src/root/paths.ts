import { posix } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isWithin } from '@mcpbridge/shared/folder-guard.js';

/** Bytes; the limits of most file systems. */
const MAX_PATH = 4096;
const MAX_NAME = 255;
const MAX_DEPTH = 128;

/** Names that are the workspace's own: its state, and files that are being written. */
const RESERVED = '.mcpbridge';
export const STATE_FOLDER = `${RESERVED}-workspace`;

/** A name that no caller may use or see. */
export function isReserved(name: string): boolean {
  return name.toLowerCase().startsWith(RESERVED);
}

/**
 * What a caller calls a path, as one relative to the workspace without `.` and `..`: `''` is the workspace itself.
 * Nothing is looked up. Absolute ones are fine within the workspace, since commands print them.
 */
export function lexicalPath(given: string, home: string, workspace: string): string {
  if (given.includes('\0')) throw invalid(given, 'has a NUL character in it');
  const inside = given === workspace || given.startsWith(`${workspace}/`);
  if (given.startsWith('/') && !inside) throw notAllowed(given, 'is not within the workspace');
  const path = posix.normalize(inside ? given.slice(workspace.length + 1) : posix.join(home, given));
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts[0] === '..') throw notAllowed(given, 'leads out of the workspace');
  if (!inside && !isWithin(parts.join('/'), home)) throw notAllowed(given, 'leads out of its folder');
  if (parts.some(isReserved)) throw notAllowed(given, `has a name that begins with "${RESERVED}"`);
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME))
    throw invalid(given, `has a name of more than ${MAX_NAME} bytes`);
  if (parts.length > MAX_DEPTH || Buffer.byteLength(path) > MAX_PATH) throw invalid(given, 'is too long');
  return parts.join('/');
}

export function notAllowed(path: string, reason: string): AppError {
  return new AppError('PATH_NOT_ALLOWED', `The path ${quoted(path)} ${reason}.`);
}

export function invalid(path: string, reason: string): AppError {
  return new AppError('INVALID_REQUEST', `The path ${quoted(path)} ${reason}.`);
}

/** As it may stand in a sentence. */
export function quoted(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path);
}
