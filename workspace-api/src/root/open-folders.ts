import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';

/** A folder that stays the same one whatever happens to the names on the way to it. */
export interface OpenFolder {
  readonly handle: FileHandle;
  /** Relative to the workspace. */
  readonly path: string;
  /** A path for system calls: on Linux it begins at the opened folder, so no exchanged link is followed on the way. */
  at(name: string): string;
}

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
const FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/** Node has no openat; Linux shows opened folders as paths. Elsewhere the checks before are all there is. */
const hasDescriptorPaths = process.platform === 'linux';

export async function openRoot(folder: string): Promise<OpenFolder> {
  return openFolder(await open(folder, O_RDONLY | O_DIRECTORY), '', folder);
}

function openFolder(handle: FileHandle, path: string, real: string): OpenFolder {
  const base = hasDescriptorPaths ? `/proc/self/fd/${handle.fd}` : real;
  // Not joined: `.` must stay, since the path before it is a link.
  return { handle, path, at: (name) => `${base}/${name}` };
}

/**
 * Opens the folder at the end of these names, one after the other, and follows no link; with `create` missing ones are
 * made. Rejects with the system's own error. Whoever gets it closes it.
 */
export async function walk(root: OpenFolder, names: readonly string[], create: boolean): Promise<OpenFolder> {
  let folder = root;
  for (const name of names) {
    const above = folder;
    try {
      const handle = await openBelow(above, name, create);
      folder = openFolder(handle, join(above.path, name), above.at(name));
    } finally {
      if (above !== root) await above.handle.close();
    }
  }
  if (folder !== root) return folder;
  return openFolder(await open(root.at('.'), FOLDER_FLAGS), root.path, root.at('.'));
}

async function openBelow(above: OpenFolder, name: string, create: boolean): Promise<FileHandle> {
  try {
    return await open(above.at(name), FOLDER_FLAGS);
  } catch (error) {
    if (!create || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await mkdir(above.at(name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return open(above.at(name), FOLDER_FLAGS);
}
