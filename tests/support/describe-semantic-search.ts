import { execFileSync } from 'node:child_process';
import { linkSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { encodeGuard, GUARD_HEADER, type Guard } from '../../packages/shared/dist/folder-guard.js';
import { verifies } from '../requirements.js';
import type { BareWorkspace } from './describe-workspace-search.js';
import { type EmbeddingsServer, startEmbeddings } from './embeddings-server.js';
import { guard, makeFolder, removeFolder, writeInto } from './workspace-folder.js';

const STATE = '.mcpbridge-workspace/index.sqlite';

interface Found {
  status: number;
  semantic_results: { file_path: string; chunk_text: string; first_line: number; last_line: number }[];
  search_method: string;
  embedding_model: string | null;
  note?: string;
  index_complete: boolean;
}

const TOPICS: Record<string, string> = {
  'harbour.md':
    'The vessel left the port at dawn; its crew hoisted the sails and steered towards the open sea.',
  'kitchen.md':
    'Knead the dough, let it rise for an hour, then bake the loaf in a hot oven until the crust is brown.',
  'money.md': 'The invoice is due in thirty days; unpaid amounts are charged with interest by the bank.',
  'doctor.md': 'The patient complained of fever and headache and was given antibiotics by the physician.',
  'garden.md': 'Plant the seeds in spring, water the flowers daily and remove weeds from the soil.',
  'login.ts':
    'export function verifyPassword(user: User, secret: string) { return hash(secret) === user.digest; }',
};

/** What is promised of searches by meaning, for a workspace that is started in a folder with these variables. */
export function describeSemanticSearch(
  name: string,
  startIn: (folder: string, env: Record<string, string>) => Promise<BareWorkspace>,
): void {
  describe(`searches by meaning in a workspace that is ${name}`, () => {
    const ends: (() => Promise<void> | void)[] = [];
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end();
    });

    async function start(
      files: Record<string, string | Buffer>,
      env: Record<string, string> = {},
      given?: string,
    ) {
      const folder = given ?? makeFolder(files);
      if (!given) ends.push(() => removeFolder(folder));
      const workspace = await startIn(folder, env);
      let isOpen = true;
      const stop = async () => {
        if (isOpen) await workspace.stop();
        isOpen = false;
      };
      ends.push(stop);
      const send = async (method: string, path: string, body?: unknown, who = guard()) => {
        const response = await fetch(workspace.url + path, {
          method,
          headers: {
            authorization: `Bearer ${workspace.token}`,
            [GUARD_HEADER]: encodeGuard(who),
            'content-type': 'application/json',
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return { status: response.status, ...((await response.json()) as object) };
      };
      const search = async (query: string, more: Record<string, string> = {}, who?: Guard) =>
        (await send(
          'GET',
          `/api/search/semantic?${new URLSearchParams({ query, ...more })}`,
          undefined,
          who,
        )) as Found;
      const paths = async (query: string, more: Record<string, string> = {}, who?: Guard) =>
        (await search(query, more, who)).semantic_results.map(({ file_path }) => file_path);
      return { folder, send, search, paths, stop };
    }

    verifies('semantic.meaning', async () => {
      const { search, paths } = await start(TOPICS);
      // None of these has a word of the passage in it.
      for (const [query, expected] of [
        ['ship voyage ocean', 'harbour.md'],
        ['bread recipe', 'kitchen.md'],
        ['payment of debts', 'money.md'],
        ['sick person medicine', 'doctor.md'],
        ['growing vegetables', 'garden.md'],
        ['authentication of accounts', 'login.ts'],
      ] as const)
        expect([query, (await paths(query))[0]]).toEqual([query, expected]);
      const { search_method, embedding_model, note } = await search('ship');
      expect({ search_method, embedding_model, note }).toEqual({
        search_method: 'semantic',
        embedding_model: 'english-words-128',
        note: undefined,
      });
    });

    test('a passage is found with its lines, and a long file is several passages', async () => {
      const filler = Array.from(
        { length: 60 },
        (_, at) => `Sentence ${at} is about nothing at all, as so often.`,
      );
      filler[30] = 'The lighthouse keeper counted the ships.';
      const { search, send } = await start({ 'long.md': filler.join('\n') });
      const process = { file_path: 'long.md', action: 'create' };
      expect(await send('POST', '/api/search/process-file', process)).toMatchObject({ chunks_created: 4 });
      const { semantic_results } = await search('lighthouse keeper');
      const [first] = semantic_results;
      expect(first?.chunk_text).toContain('lighthouse');
      expect(first?.chunk_text.length).toBeLessThan(1300);
      expect(first?.first_line).toBeLessThanOrEqual(31);
      expect(first?.last_line).toBeGreaterThanOrEqual(31);
    });

    verifies('semantic.in-step', async () => {
      const { folder, send, paths } = await start({ 'a.md': 'nothing yet' }, { SEARCH_EMBEDDINGS: 'none' });
      const about = () => paths('walrus');
      expect(await about()).toEqual([]);
      await send('PUT', '/api/documents/b.md', { content: 'the walrus' });
      expect(await about()).toEqual(['b.md']);
      await send('PUT', '/api/documents/b.md', { content: 'the carpenter' });
      expect(await about()).toEqual([]);
      // Behind the API's back, also with the old time and size.
      execFileSync('sh', ['-c', 'printf "the walrus  " > b.md && touch -d 2001-01-01 b.md'], { cwd: folder });
      expect(await about()).toEqual(['b.md']);
      execFileSync('sh', ['-c', 'printf "the penguin " > b.md && touch -d 2001-01-01 b.md'], { cwd: folder });
      expect(await about()).toEqual([]);
      execFileSync('sh', ['-c', 'mkdir deep && echo walrus > deep/c.md'], { cwd: folder });
      expect(await about()).toEqual(['deep/c.md']);
      renameSync(join(folder, 'deep'), join(folder, 'deeper'));
      expect(await about()).toEqual(['deeper/c.md']);
      rmSync(join(folder, 'deeper'), { recursive: true });
      expect(await about()).toEqual([]);
      await send('PUT', '/api/documents/d.md', { content: 'walrus' });
      await send('DELETE', '/api/documents/d.md');
      expect(await about()).toEqual([]);
    });

    verifies('semantic.guard', async () => {
      const { folder, search, paths, send } = await start({
        'mine/a.md': 'walrus in my folder',
        'mine/secret/b.md': 'walrus in a blocked folder',
        'mine2/c.md': 'walrus in a folder with a longer name',
        'other/d.md': 'walrus of somebody else',
        'mine/binary.bin': Buffer.from('walrus\0'),
        'mine/node_modules/x/readme.md': 'walrus of a package',
      });
      symlinkSync(join(folder, 'other'), join(folder, 'mine/link'));
      const outside = makeFolder({ 'e.md': 'walrus outside' });
      ends.push(() => removeFolder(outside));
      linkSync(join(outside, 'e.md'), join(folder, 'mine/hard.md'));
      // All is in the index before the session asks.
      expect((await paths('walrus')).sort()).toEqual([
        'mine/a.md',
        'mine/secret/b.md',
        'mine2/c.md',
        'other/d.md',
      ]);
      const who = guard({ home: 'mine', write: ['mine'], blocked: ['mine/secret'] });
      expect(await paths('walrus', {}, who)).toEqual(['a.md']);
      for (const asked of ['secret', 'link', '../other'])
        expect((await search('walrus', { folder: asked }, who)).status).toBe(403);
      const process = { file_path: '../other/d.md', action: 'update' };
      expect((await send('POST', '/api/search/process-file', process, who)).status).toBe(403);
      expect(statSync(join(folder, STATE)).mode & 0o077).toBe(0);
    });

    test('a folder is looked through with all that is below it', async () => {
      const { paths } = await start({ 'a/x.md': 'walrus', 'a/b/y.md': 'walrus', 'c/z.md': 'walrus' });
      expect((await paths('walrus', { folder: 'a' })).sort()).toEqual(['a/b/y.md', 'a/x.md']);
    });

    test('a file is indexed by itself, and a text that is no file until it is deleted', async () => {
      const { send, paths } = await start({ 'a.md': 'walrus' });
      const process = (body: object) => send('POST', '/api/search/process-file', body);
      expect(await process({ file_path: 'a.md', action: 'create' })).toEqual({
        status: 200,
        file_path: 'a.md',
        action: 'create',
        success: true,
        chunks_created: 1,
        embeddings_generated: 1,
        processing_time_ms: expect.any(Number),
      });
      await process({ file_path: 'given.md', action: 'create', content: 'an octopus' });
      expect((await paths('octopus'))[0]).toBe('given.md');
      await process({ file_path: 'given.md', action: 'update', content: 'a squid' });
      expect((await paths('squid'))[0]).toBe('given.md');
      await process({ file_path: 'given.md', action: 'delete' });
      expect(await paths('squid')).not.toContain('given.md');
      expect((await process({ file_path: 'nowhere.md', action: 'update' })).status).toBe(404);
      expect((await process({ file_path: 'a.md', action: 'guess' })).status).toBe(400);
    });

    describe('with a provider of vectors', () => {
      let server: EmbeddingsServer;
      const provided = async (files: Record<string, string>, folder?: string) => {
        server ??= await startEmbeddings();
        const env = {
          SEARCH_EMBEDDINGS: server.url,
          SEARCH_EMBEDDINGS_MODEL: 'topics',
          SEARCH_EMBEDDINGS_KEY: 'of-the-provider',
        };
        return start(files, env, folder);
      };
      const FILES = { 'sea.md': 'The boat.', 'food.md': 'Some dough.', 'sky.md': 'A far planet.' };

      verifies('semantic.provider', async () => {
        const { folder, search, paths, stop } = await provided(FILES);
        ends.push(() => server.stop());
        expect((await paths('telescope'))[0]).toBe('sky.md');
        expect((await paths('bakery'))[0]).toBe('food.md');
        const { search_method, embedding_model } = await search('sailing');
        expect([search_method, embedding_model]).toEqual(['semantic', 'topics']);
        expect([...server.authorizations]).toEqual(['Bearer of-the-provider']);

        const asked = () => server.texts.filter((text) => text.includes('boat')).length;
        expect(asked()).toBe(1);
        await stop();
        const again = await provided({}, folder);
        expect((await again.paths('harbour'))[0]).toBe('sea.md');
        expect(asked()).toBe(1);

        server.broken = true;
        writeFileSync(join(folder, 'sea.md'), 'A planet and a boat.');
        const without = await again.search('planet');
        expect(without.search_method).toBe('bm25');
        expect(without.note).toMatch(/"topics" are not to be had: it answered 500.*out of order/);
        expect(without.semantic_results.map(({ file_path }) => file_path).sort()).toEqual([
          'sea.md',
          'sky.md',
        ]);

        server.broken = false;
        expect((await again.search('planet')).search_method).toBe('semantic');
      });
    });

    test('without vectors words decide, and the answer says so', async () => {
      const { search } = await start(
        { 'a.md': 'the readFile function', 'b.md': 'reads', 'sub/reader.md': 'x' },
        { SEARCH_EMBEDDINGS: 'none' },
      );
      const { search_method, note, embedding_model, semantic_results } = await search('read');
      expect(search_method).toBe('bm25');
      expect(embedding_model).toBeNull();
      expect(note).toContain('SEARCH_EMBEDDINGS');
      expect(semantic_results.map(({ file_path }) => file_path).sort()).toEqual([
        'a.md',
        'b.md',
        'sub/reader.md',
      ]);
    });

    test('an index that is broken is made anew', async () => {
      const { folder, paths, stop } = await start({ 'a.md': 'walrus' });
      expect(await paths('walrus')).toEqual(['a.md']);
      await stop();
      writeInto(folder, STATE, 'this is no database at all'.repeat(500));
      const again = await start({}, undefined, folder);
      expect(await again.paths('walrus')).toEqual(['a.md']);
    });
  });
}
