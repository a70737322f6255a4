import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decodeGuard, encodeGuard, ownFolderGuard, sessionFolder } from '@mcpbridge/shared/folder-guard.js';
import { WorkspaceRoot } from '@mcpbridge/workspace-api/root/workspace-root.js';

let folder: string;
let root: WorkspaceRoot;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-root-'));
  await mkdir(join(folder, 'a/secret'), { recursive: true });
  await writeFile(join(folder, 'a/file.txt'), 'x');
  await writeFile(join(folder, 'a/secret/file.txt'), 'x');
  await mkdir(join(folder, 'a2'));
  await symlink('file.txt', join(folder, 'a/link'));
  await symlink('../a2', join(folder, 'a/other'));
  await symlink('/etc', join(folder, 'a/out'));
  root = await WorkspaceRoot.open(folder);
});
afterAll(async () => {
  await root.close();
  await rm(folder, { recursive: true });
});

const guard = { ...ownFolderGuard('s'), home: 'a', read: ['a'], write: ['a/w'], blocked: ['a/secret'] };
const outcome = (path: string, access: 'read' | 'write' | 'list' = 'read') =>
  root.at(guard, path, access, async (place) => place.path).catch((error) => error.code);

test.each([
  ['file.txt', 'a/file.txt'],
  ['./x/../file.txt', 'a/file.txt'],
  ['link', 'a/file.txt'],
  ['../a2', 'PATH_NOT_ALLOWED'],
  ['../../etc/passwd', 'PATH_NOT_ALLOWED'],
  ['/etc/passwd', 'PATH_NOT_ALLOWED'],
  ['other', 'PATH_NOT_ALLOWED'],
  ['out/passwd', 'PATH_NOT_ALLOWED'],
  ['secret', 'PATH_NOT_ALLOWED'],
  ['secret/file.txt', 'PATH_NOT_ALLOWED'],
  ['.mcpbridge-workspace', 'PATH_NOT_ALLOWED'],
  ['file.txt/x', 'NOT_FOUND'],
  ['no/such/file', 'NOT_FOUND'],
  ['a\0b', 'INVALID_REQUEST'],
  ['x'.repeat(256), 'INVALID_REQUEST'],
  ['x/'.repeat(200), 'INVALID_REQUEST'],
])('to read %j is %s', async (path, expected) => {
  expect(await outcome(path)).toBe(expected);
});

test('writing is allowed in the folders to write alone', async () => {
  await root.prepare(guard);
  expect(await outcome('w/new.txt', 'write')).toBe('a/w/new.txt');
  expect(await outcome('file.txt', 'write')).toBe('PATH_NOT_ALLOWED');
});

test('of folders on the way to what may be read only the way is seen', () => {
  const deep = { ...guard, home: '', read: ['a/b/c'], write: [] };
  expect(['', 'a', 'a/b', 'a/b/c/d', 'a/x', 'a2'].map((path) => root.isVisible(deep, path))).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
});

test('a guard survives its header, and every session id is a folder name of its own', () => {
  expect(decodeGuard(encodeGuard({ ...guard, home: 'ä/ö' })).home).toBe('ä/ö');
  expect(() => decodeGuard(encodeGuard({ ...guard, read: 5 as unknown as string[] }))).toThrow('/read');
  const ids = ['a', 'A', '..', '.', 'a:b', 'a.b', 'x'.repeat(128), 'X'.repeat(128)];
  const folders = ids.map(sessionFolder);
  expect(new Set(folders.map((name) => name.toLowerCase())).size).toBe(ids.length);
  for (const name of folders) expect(name).toMatch(/^sessions\/[a-z0-9_=][a-z0-9_=.-]{0,254}$/);
});
