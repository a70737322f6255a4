import { copyFileSync, lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A folder with these files and folders of /etc in it, made anew. What this user may not read is not in it. */
export function copyConfiguration(paths: readonly string[], folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const path of paths) {
    const target = join(folder, path.slice('/etc/'.length));
    mkdirSync(dirname(target), { recursive: true });
    copy(path, target);
  }
  return folder;
}

function copy(from: string, to: string): void {
  try {
    const stats = lstatSync(from);
    if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    else if (stats.isFile()) copyFileSync(from, to);
    else if (stats.isDirectory()) {
      mkdirSync(to);
      for (const name of readdirSync(from)) copy(join(from, name), join(to, name));
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'ENOENT') throw error;
  }
}
