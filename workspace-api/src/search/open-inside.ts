import { closeSync, constants, openSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const isLinux = process.platform === 'linux';

/**
 * Lets `use` work with what is at the path, if it really is there: whoever exchanges a folder for a link meanwhile gets
 * nothing opened elsewhere. Undefined: it is gone, may not be read, or is a link. `path` is relative to `root`, which
 * is real. For threads: all is synchronous.
 */
export function openInside<T>(root: string, path: string, use: (descriptor: number) => T): T | undefined {
  const expected = path === '' ? root : join(root, path);
  let descriptor: number;
  try {
    descriptor = openSync(expected, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    // Gone or unreadable: whoever looks through a folder passes on to the next one.
    return undefined;
  }
  try {
    return placeOf(descriptor, expected) === expected ? use(descriptor) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** Linux knows where an opened file is; elsewhere its path is looked at once more. */
function placeOf(descriptor: number, path: string): string {
  return isLinux ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync.native(path);
}

/** A path for system calls on an opened folder. */
export function pathOf(descriptor: number, root: string, path: string): string {
  return isLinux ? `/proc/self/fd/${descriptor}` : join(root, path);
}
