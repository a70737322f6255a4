import { AppError } from '@mcpbridge/shared/errors.js';
import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import type { WorkspaceRoot } from '../root/workspace-root.js';
import type { Scope } from './scope.js';

/** @throws PATH_NOT_ALLOWED, NOT_FOUND */
export async function scopeOf(root: WorkspaceRoot, guard: Guard, folder: string): Promise<Scope> {
  try {
    const { path } = await root.resolve(guard, folder, 'list');
    return { root: root.folder, guard, folder: path };
  } catch (thrown) {
    // A session's own folder is made when it writes something.
    if (folder !== '' || !(thrown instanceof AppError) || thrown.code !== 'NOT_FOUND') throw thrown;
    return { root: root.folder, guard, folder: guard.home };
  }
}
