import { readFileSync } from 'node:fs';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';

/** `mcp.lock`: hashes of the accepted tools, by server and tool. */
export type LockFile = Record<string, Record<string, string>>;

/** Reads `mcp.lock`; undefined when there is none. @throws CONFIG_INVALID when it cannot be read. */
export function readLockFile(file: string): LockFile | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new AppError('CONFIG_INVALID', `${file} cannot be read: ${messageOf(error)}.`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && Object.values(value).every(isObject)) return value as LockFile;
  } catch {
    // Said below, with what is expected.
  }
  throw new AppError(
    'CONFIG_INVALID',
    `${file} is not a lock file; delete it, or write it anew with "lock".`,
  );
}
