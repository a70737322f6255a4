import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Guard } from '../../packages/shared/dist/folder-guard.js';

/** A folder with these files in it; the name says what each is. */
export function makeFolder(files: Record<string, string | Buffer> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'workspace-')));
  for (const [path, content] of Object.entries(files)) writeInto(folder, path, content);
  return folder;
}

export function writeInto(folder: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** All of the workspace, less what the members say. */
export function guard(members: Partial<Guard> = {}): Guard {
  return {
    sessionId: 'searcher',
    home: '',
    read: [],
    write: [''],
    blocked: [],
    env: {},
    network: 'none',
    ...members,
  };
}
