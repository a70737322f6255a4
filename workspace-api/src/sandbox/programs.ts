import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/run/current-system/sw/bin'];

/** A program of the machine by its name; not by PATH, which may name folders that others write. */
export function findProgram(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
