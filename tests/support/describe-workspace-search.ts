import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encodeGuard, GUARD_HEADER, type Guard } from '../../packages/shared/dist/folder-guard.js';
import { verifies } from '../requirements.js';
import { guard, makeFolder, removeFolder, writeInto } from './workspace-folder.js';

/** A workspace without an orchestrator before it. */
export interface BareWorkspace {
  url: string;
  token: string;
  stop(): Promise<void>;
}

interface Answer {
  status: number;
  body: { files: Entry[]; results: Entry[]; error: { code: string; message: string } };
}

interface Entry {
  filepath: string;
}

/** What is promised of searches, for a workspace that is started in a folder; it sees `outside` as well. */
export function describeWorkspaceSearch(
  name: string,
  start: (folder: string, outside: string) => Promise<BareWorkspace>,
): void {
  describe(`searches in a workspace that is ${name}`, () => {
    let folder: string;
    let outside: string;
    let workspace: BareWorkspace;

    beforeAll(async () => {
      folder = makeFolder({
        'src/a.ts': 'export const one = 1;\nexport const two = 2;\n',
        'src/deep/b.ts': 'export const three = 3;\n',
        'src/deep/c.md': '# Three\n',
        'private/key.txt': 'export const secret = 42;\n',
        '.hidden/x.ts': 'export const hidden = 1;\n',
        'sessions/other/notes.md': 'export of another session\n',
        'sessions/mine/notes.md': 'export of mine\n',
        '.mcpbridge/state.txt': 'export of our own\n',
      });
      outside = makeFolder({ 'passwords.ts': 'export const password = 1;\n' });
      symlinkSync(outside, join(folder, 'src/way-out'));
      workspace = await start(folder, outside);
    });

    afterAll(async () => {
      await workspace.stop();
      removeFolder(folder);
      removeFolder(outside);
    });

    async function get(
      path: string,
      query: Record<string, string>,
      who: Guard = guard(),
      signal?: AbortSignal,
    ): Promise<Answer> {
      const headers = { authorization: `Bearer ${workspace.token}`, [GUARD_HEADER]: encodeGuard(who) };
      const response = await fetch(`${workspace.url}${path}?${new URLSearchParams(query)}`, {
        headers,
        ...(signal ? { signal } : {}),
      });
      return { status: response.status, body: (await response.json()) as Answer['body'] };
    }

    const paths = ({ body }: Answer, list: 'files' | 'results'): string[] =>
      body[list].map((entry) => entry.filepath);

    test('a glob finds files at any depth, hidden ones too, and folders when they are asked for', async () => {
      const files = await get('/api/glob', { pattern: '**/*.ts' });
      expect(paths(files, 'files')).toEqual(['.hidden/x.ts', 'src/a.ts', 'src/deep/b.ts']);
      expect(files.body).toMatchObject({ total: 3, has_more: false });
      expect(files.body.files[1]).toEqual({
        filepath: 'src/a.ts',
        type: 'file',
        size: 44,
        last_modified: expect.stringMatching(/^\d{4}-.*Z$/),
      });
      expect(paths(await get('/api/glob', { pattern: 'src/*', include_dirs: 'true' }), 'files')).toEqual([
        'src/a.ts',
        'src/deep',
      ]);
      expect(paths(await get('/api/glob', { pattern: '*.ts', folder: 'src' }), 'files')).toEqual([
        'src/a.ts',
      ]);
      expect(
        paths(await get('/api/glob', { pattern: '**', folder: 'src', max_depth: '1' }), 'files'),
      ).toEqual(['src/a.ts']);
    });

    test('a glob is read page by page', async () => {
      const first = await get('/api/glob', { pattern: '**/*.ts', limit: '2' });
      expect(first.body).toMatchObject({ total: 3, has_more: true });
      const second = await get('/api/glob', { pattern: '**/*.ts', limit: '2', offset: '2' });
      expect([...paths(first, 'files'), ...paths(second, 'files')]).toEqual([
        '.hidden/x.ts',
        'src/a.ts',
        'src/deep/b.ts',
      ]);
    });

    test('a search gives lines with their places, within one limit for all files', async () => {
      const { body } = await get('/api/search', { query: 'CONST', folder: 'src', context: '1', limit: '2' });
      expect(body).toEqual({
        query: 'CONST',
        results: [
          {
            filepath: 'src/a.ts',
            line_number: 1,
            column: 8,
            text: 'export const one = 1;',
            matched_text: 'const',
            before: [],
            after: ['export const two = 2;'],
          },
          {
            filepath: 'src/a.ts',
            line_number: 2,
            column: 8,
            text: 'export const two = 2;',
            matched_text: 'const',
            before: ['export const one = 1;'],
            after: [],
          },
        ],
        total: 2,
        truncated: true,
        engine: expect.stringMatching(/^(ripgrep|reader)$/),
      });
    });

    test('a search heeds case, expressions and globs', async () => {
      const found = async (query: Record<string, string>) =>
        paths(await get('/api/search', query), 'results');
      expect(await found({ query: 'three', glob: 'deep/**' })).toEqual([]);
      expect(await found({ query: 'three', folder: 'src' })).toEqual(['src/deep/b.ts', 'src/deep/c.md']);
      expect(await found({ query: 'Three', folder: 'src', case: 'smart' })).toEqual(['src/deep/c.md']);
      expect(await found({ query: 'three', folder: 'src', case: 'sensitive' })).toEqual(['src/deep/b.ts']);
      expect(await found({ query: 't(wo|hree) =', regex: 'true' })).toEqual(['src/a.ts', 'src/deep/b.ts']);
      expect(await found({ query: 'three', glob: '*.md' })).toEqual(['src/deep/c.md']);
    });

    verifies('search.guard', async () => {
      const who = guard({ blocked: ['private', 'src/deep'] });
      const inAll = [
        ...paths(await get('/api/glob', { pattern: '**', include_dirs: 'true' }, who), 'files'),
        ...paths(await get('/api/search', { query: 'export' }, who), 'results'),
        ...paths(await get('/api/search', { query: 'export|^', regex: 'true' }, who), 'results'),
      ];
      expect(inAll).toContain('src/a.ts');
      expect(inAll.filter((path) => /private|deep|way-out|mcpbridge|password/.test(path))).toEqual([]);
      for (const query of ['secret', 'password', 'our own'])
        expect((await get('/api/search', { query }, who)).body.results).toEqual([]);
      for (const asked of ['private', 'src/deep', 'src/way-out', '../', outside, '.mcpbridge'])
        expect((await get('/api/search', { query: 'export', folder: asked }, who)).status).toBe(403);
    });

    test('a session sees what is in its own folder, by paths that begin there', async () => {
      const who = guard({ home: 'sessions/mine', write: ['sessions/mine'] });
      expect(paths(await get('/api/search', { query: 'export' }, who), 'results')).toEqual(['notes.md']);
      expect(paths(await get('/api/glob', { pattern: '**' }, who), 'files')).toEqual(['notes.md']);
      expect((await get('/api/search', { query: 'export', folder: '../other' }, who)).status).toBe(403);
    });

    test('a session that has written nothing yet finds nothing', async () => {
      const who = guard({ home: 'sessions/new', write: ['sessions/new'] });
      expect(paths(await get('/api/search', { query: 'export' }, who), 'results')).toEqual([]);
      expect(paths(await get('/api/glob', { pattern: '**' }, who), 'files')).toEqual([]);
    });

    test('expressions without end hold up the searches of their own session alone', async () => {
      const hostile = guard({ sessionId: 'hostile', home: 'sessions/hostile', write: ['sessions/hostile'] });
      writeInto(folder, `sessions/hostile/${'a'.repeat(100)}`, `${'a'.repeat(5000)}!\n`);
      const gone = new AbortController();
      const ask = (address: string, query: Record<string, string>) =>
        get(address, query, hostile, gone.signal).catch(() => 'cancelled');
      const stars = `${'*a'.repeat(40)}c`;
      const asked = [
        ...Array.from({ length: 7 }, () => ask('/api/search', { query: '(a+)+$', regex: 'true' })),
        ask('/api/glob', { pattern: stars }),
      ];
      const other = guard({ sessionId: 'other', home: 'sessions/mine', write: ['sessions/mine'] });
      for (let round = 0; round < 5; round += 1)
        expect(paths(await get('/api/search', { query: 'export' }, other), 'results')).toEqual(['notes.md']);
      gone.abort();
      expect(await Promise.all(asked)).toEqual(asked.map(() => 'cancelled'));
    });

    test.each([
      ['/api/search', {}, '"query" is missing'],
      ['/api/glob', {}, '"pattern" is missing'],
      ['/api/search', { query: 'x', limit: '0' }, 'from 1 to 1000'],
      ['/api/search', { query: 'x', case: 'upper' }, 'sensitive, insensitive or smart'],
      ['/api/search', { query: '(', regex: 'true' }, 'no regular expression'],
    ])('%s with %j is refused with what is wrong', async (path, query, message) => {
      const { status, body } = await get(path, query as Record<string, string>);
      expect(status).toBe(400);
      expect(body.error).toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringContaining(message),
      });
    });

    test('a folder that is not there is a 404 that names it', async () => {
      const { status, body } = await get('/api/search', { query: 'x', folder: 'nowhere' });
      expect([status, body.error.message]).toEqual([404, 'There is no file or folder "nowhere".']);
    });
  });
}
