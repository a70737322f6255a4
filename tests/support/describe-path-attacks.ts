import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, readdir, readFile, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from './api.js';
import { ended, eventually, fixture, startNode } from './processes.js';
import type { OrchestratedWorkspace } from './workspaces.js';

const SECRET = 'TOP SECRET';
/** First line of the secret files: who may change it could change the rest. */
const PUBLIC = 'not secret yet';
const CONTENT = `${PUBLIC}\n${SECRET}\n`;
const SESSION = 'attack';

interface Answer {
  status: number;
  text: string;
}

/** A request whose address goes out as it is; fetch would tidy it. */
function send(
  place: OrchestratedWorkspace,
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { port } = place.running;
    const own = { ...place.running.headers(SESSION), ...headers };
    const sent = request({ host: '127.0.0.1', port, method, path, headers: own }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Each route that takes a path, as a request for that one. */
const ROUTES: Record<string, (place: OrchestratedWorkspace, path: string) => Promise<Answer>> = {
  list: (place, path) => send(place, 'GET', `/api/documents?folder=${encodeURIComponent(path)}`),
  read: (place, path) => send(place, 'GET', `/api/documents/${inAddress(path)}`),
  lines: (place, path) => send(place, 'GET', `/api/documents/${inAddress(path)}?lines=5`),
  raw: (place, path) => send(place, 'GET', `/api/documents/${inAddress(path)}/raw`),
  download: (place, path) => send(place, 'GET', `/api/documents/${inAddress(path)}?download=true`),
  create: (place, path) => send(place, 'POST', '/api/documents', json({ filepath: path, content: 'x' })),
  write: (place, path) => send(place, 'PUT', `/api/documents/${inAddress(path)}`, json({ content: 'x' })),
  diff: (place, path) =>
    send(
      place,
      'PATCH',
      `/api/documents/${inAddress(path)}/diff`,
      json({ diff: `@@ -1 +1 @@\n-${PUBLIC}\n+x\n` }),
    ),
  'diff that creates': (place, path) =>
    send(
      place,
      'PATCH',
      `/api/documents/${inAddress(path)}/diff`,
      json({ diff: '--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n' }),
    ),
  delete: (place, path) => send(place, 'DELETE', `/api/documents/${inAddress(path)}`),
  'move from': (place, path) =>
    send(place, 'POST', `/api/documents/${inAddress(path)}/move`, json({ destination_path: 'taken-in' })),
  'move to': (place, path) =>
    send(place, 'POST', '/api/documents/mine.txt/move', json({ destination_path: path, overwrite: true })),
  'copy from': (place, path) =>
    send(place, 'POST', `/api/documents/${inAddress(path)}/copy`, json({ destination_path: 'taken-in' })),
  'copy to': (place, path) =>
    send(place, 'POST', '/api/documents/mine.txt/copy', json({ destination_path: path, overwrite: true })),
  'make folder': (place, path) => send(place, 'POST', '/api/folders', json({ folder_path: path })),
  'delete folder': (place, path) => send(place, 'DELETE', `/api/folders/${inAddress(path)}?recursive=true`),
  'copy folder': (place, path) =>
    send(place, 'POST', '/api/folders/copy', json({ source_path: path, destination_path: 'taken-in' })),
  'copy to folder': (place, path) =>
    send(place, 'POST', '/api/folders/copy', json({ source_path: 'folder', destination_path: path })),
  'move folder': (place, path) =>
    send(place, 'POST', '/api/folders/move', json({ source_path: path, destination_path: 'taken-in' })),
  versions: (place, path) => send(place, 'GET', `/api/versions/${inAddress(path)}`),
  restore: (place, path) =>
    send(
      place,
      'POST',
      `/api/restore/${inAddress(path)}`,
      json({ version: '00000000-0000-0000-0000-000000000000' }),
    ),
  'upload into': (place, path) => upload(place, path, 'secret.txt'),
  'upload as': (place, path) => upload(place, '', path),
};

const json = (value: unknown) => JSON.stringify(value);

/** Every sign but letters encoded, slashes too: nothing on the way can tidy it, and the service sees what was meant. */
function inAddress(path: string): string {
  return encodeURIComponent(path).replaceAll('.', '%2E');
}

function upload(place: OrchestratedWorkspace, folder: string, filename: string): Promise<Answer> {
  const part = (name: string, value: string, file = '') =>
    `--x\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  const named = `; filename="${filename.replaceAll('"', '%22')}"`;
  const body = `${part('folder_path', folder)}${part('overwrite', 'true')}${part('file', 'x', named)}--x--\r\n`;
  return send(place, 'POST', '/api/upload', Buffer.from(body), {
    'content-type': 'multipart/form-data; boundary=x',
  });
}

/** What no path may do, for the workspace at one place. */
export function describePathAttacks(name: string, start: () => Promise<OrchestratedWorkspace>): void {
  describe(`in a workspace that is ${name}`, () => {
    let place: OrchestratedWorkspace;
    let own: string;
    let outside: string;
    let beside: string;
    let socket: Server;
    let paths: Record<string, string>;

    beforeAll(async () => {
      place = await start();
      own = join(place.folder, 'sessions', SESSION);
      beside = place.beside ?? place.running.home;
      outside = join(beside, 'outside');
      const other = join(place.folder, 'sessions/other');
      const neighbour = join(place.folder, `sessions/${SESSION}2`);
      for (const folder of [outside, other, neighbour]) {
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, 'secret.txt'), CONTENT);
      }
      execFileSync('mkfifo', [join(beside, 'pipe')]);
      socket = createServer().listen(join(beside, 'socket'));
      await once(socket, 'listening');
      const up = '../'.repeat(8);
      paths = {
        'a path upwards': '../other/secret.txt',
        'a path upwards out of the workspace': `${up}${outside}/secret.txt`,
        'one that goes down before': `folder/../../other/secret.txt`,
        'one whose dots are encoded': '%2e%2e/other/secret.txt',
        'one with back slashes': '..\\other\\secret.txt',
        'a folder whose name begins alike': `../${SESSION}2/secret.txt`,
        'an absolute path': '/etc/passwd',
        'an absolute path of another session': join(other, 'secret.txt'),
        'an absolute path upwards': `${own}/../other/secret.txt`,
        'the address of a file': `file://${outside}/secret.txt`,
        'a link to a folder': 'out/secret.txt',
        'a link to a file': 'out.txt',
        'a link to another session': 'other/secret.txt',
        'a link to a link': 'chain/secret.txt',
        'a link to what is not there': 'dangling.txt',
        'a new file behind a link': 'out/new.txt',
        'a link to itself': 'loop',
        'a path through a link to itself': 'loop/secret.txt',
        'a path through a file': 'mine.txt/secret.txt',
        'a NUL': 'mine.txt\0.md',
        'a NUL behind a path upwards': '../other/secret.txt\0',
        'a very long name': 'x'.repeat(300),
        'a very long name of few letters': '🎉'.repeat(100),
        'a very long path': 'folder/'.repeat(2000),
        'the state of the workspace': '.mcpbridge-workspace/versions',
        'the state of the workspace, upwards': '../../.mcpbridge-workspace/versions',
        'a name of the workspace itself': 'folder/.mcpbridge-x.tmp',
        'a pipe': 'pipe',
        'a socket': 'socket',
        'a device': '/dev/zero',
        'the memory of the process': '/proc/self/environ',
        'an opened folder of the process': '/proc/self/fd/0',
        'the token': join(place.running.home, 'token'),
      };
    });
    afterAll(async () => {
      socket.close();
      await place.stop();
    });

    /** The session's folder as it is before each attempt, so that none hides what the next would do. */
    const reset = async () => {
      await rm(own, { recursive: true, force: true });
      await mkdir(join(own, 'folder'), { recursive: true });
      await writeFile(join(own, 'mine.txt'), 'mine');
      await writeFile(join(own, 'folder/mine.txt'), 'mine');
      await symlink(outside, join(own, 'out'));
      await symlink(join(outside, 'secret.txt'), join(own, 'out.txt'));
      await symlink('../other', join(own, 'other'));
      await symlink('out', join(own, 'chain'));
      await symlink(join(outside, 'new.txt'), join(own, 'dangling.txt'));
      await symlink('loop', join(own, 'loop'));
      for (const name of ['pipe', 'socket']) await link(join(beside, name), join(own, name));
    };
    beforeEach(reset);

    const secrets = () =>
      Promise.all(
        [outside, join(place.folder, 'sessions/other'), join(place.folder, `sessions/${SESSION}2`)].map(
          async (folder) => [await readdir(folder), await readFile(join(folder, 'secret.txt'), 'utf8')],
        ),
      );
    const untouched = Array(3).fill([['secret.txt'], CONTENT]);

    verifies(
      'workspace.paths',
      async () => {
        for (const [kind, path] of Object.entries(paths)) {
          for (const [route, ask] of Object.entries(ROUTES)) {
            await reset();
            const { status, text } = await ask(place, path);
            const harmless = isHarmless(kind, route);
            const isRefused = status >= 400 && status < 500;
            expect({ kind, route, status, ok: isRefused || harmless }).toEqual({
              kind,
              route,
              status,
              ok: true,
            });
            expect({ kind, route, leaks: /TOP SECRET|root:|[A-Z_]+=.*\0/.test(text) }).toEqual({
              kind,
              route,
              leaks: false,
            });
          }
        }
        expect(await secrets()).toEqual(untouched);
        expect((await send(place, 'GET', '/api/documents/folder/mine.txt')).status).toBe(200);
      },
      120_000,
    );

    test.each([
      '/api/documents/../other/secret.txt',
      '/api/documents/../../../../etc/passwd',
      '/api/documents//etc/passwd',
      '/api/documents/%2e%2e/other/secret.txt',
      '/api/documents/%2e%2e%2fother%2fsecret.txt',
      '/api/documents/..%5cother%5csecret.txt',
      '/api/documents/%252e%252e/%252e%252e/other/secret.txt',
      '/api/documents/%00',
      '/api/documents/%c0%ae%c0%ae/other/secret.txt',
      '/api/documents/%zz',
      '/api//documents/../../other/secret.txt',
      '/api/documents/..;/other/secret.txt',
      'http://elsewhere/api/documents/../other/secret.txt',
    ])('the address %s gives nothing of others', async (address) => {
      const { status, text } = await send(place, 'GET', address);
      expect([status >= 400 && status < 500, text.includes(SECRET)]).toEqual([true, false]);
    });

    test('a file with another name elsewhere is not read; to write it leaves the other one alone', async () => {
      const hard = join(own, 'hard.txt');
      await link(join(outside, 'secret.txt'), hard);
      for (const route of ['read', 'lines', 'raw', 'download', 'diff', 'copy from', 'copy folder'])
        expect([route, (await ROUTES[route]?.(place, 'hard.txt'))?.status]).toEqual([route, 403]);
      const me = api(place.running, SESSION);
      await me.post('/api/folders').send({ folder_path: 'with-hard' });
      await link(join(outside, 'secret.txt'), join(own, 'with-hard/hard.txt'));
      await me.post('/api/folders/copy').send({ source_path: 'with-hard', destination_path: 'copied' });
      expect(await readdir(join(own, 'copied'))).toEqual([]);
      expect((await me.put('/api/documents/hard.txt').send({ content: 'mine now' })).status).toBe(200);
      const [version] = (await me.get('/api/versions/hard.txt')).body.versions;
      expect((await me.get(`/api/versions/hard.txt?version=${version.id}`)).status).toBe(404);
      expect((await me.post('/api/restore/hard.txt').send({ version: version.id })).status).toBe(404);
      expect((await me.delete('/api/folders/with-hard?recursive=true')).status).toBe(200);
      expect(await secrets()).toEqual(untouched);
    });

    test('a blocked folder stays blocked, whatever is done to the folders around it', async () => {
      const folders = { write: ['project'], blocked: ['project/a/secret'] };
      await api(place.running).post('/api/sessions').send({ id: 'blocked', folders });
      const me = api(place.running, 'blocked');
      await me.put('/api/documents/project/a/open.txt').send({ content: 'open' });
      await mkdir(join(place.folder, 'project/a/secret'));
      await writeFile(join(place.folder, 'project/a/secret/secret.txt'), SECRET);
      await symlink('a/secret', join(place.folder, 'project/link'));
      const refused = [
        await me.get('/api/documents/project/a/secret/secret.txt'),
        await me.get('/api/documents/project/link/secret.txt'),
        await me.get('/api/documents?folder=project/a/secret'),
        await me.post('/api/documents/project/a/move').send({ destination_path: 'project/b' }),
        await me.post('/api/folders/move').send({ source_path: 'project', destination_path: 'project2' }),
        await me.delete('/api/folders/project/a?recursive=true'),
        await me.delete('/api/folders/project?recursive=true'),
        await me
          .post('/api/folders/copy')
          .send({ source_path: 'project/link', destination_path: 'project/c' }),
        await me.put('/api/documents/project/a/secret/new.txt').send({ content: 'x' }),
      ];
      expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
      const copy = { source_path: 'project/a', destination_path: 'project/copy' };
      expect((await me.post('/api/folders/copy').send(copy)).status).toBe(200);
      const { documents } = (await me.get('/api/documents')).body;
      expect(documents.map((entry: { filepath: string }) => entry.filepath)).toEqual([
        'project',
        'project/a',
        'project/a/open.txt',
        'project/copy',
        'project/copy/open.txt',
        'project/link',
      ]);
    });

    test('a folder that is exchanged for a link again and again never leads out', async () => {
      await mkdir(join(own, 'swap'));
      await writeFile(join(own, 'swap/secret.txt'), 'harmless');
      const swapper: ChildProcess = startNode(fixture('link-swapper.mjs'), [join(own, 'swap'), outside]);
      const outcomes = new Set<number>();
      const routes = [
        'read',
        'raw',
        'write',
        'diff',
        'copy to',
        'versions',
        'list',
        'delete',
        'create',
        'upload into',
      ];
      try {
        for (let round = 0; round < 25; round += 1) {
          const answers = await Promise.all(
            routes.map((route) =>
              ROUTES[route]?.(place, route === 'upload into' ? 'swap' : 'swap/secret.txt'),
            ),
          );
          for (const answer of answers) {
            outcomes.add(answer?.status ?? 0);
            expect(answer?.text).not.toContain(SECRET);
          }
        }
      } finally {
        swapper.kill('SIGKILL');
        await ended(swapper);
      }
      expect(await secrets()).toEqual(untouched);
      expect([...outcomes].filter((status) => status >= 500)).toEqual([]);
    });

    test('bodies of uploads that are cut or wrong anywhere are refused, and the service goes on', async () => {
      const whole = Buffer.from(
        '--x\r\ncontent-disposition: form-data; name="folder_path"\r\n\r\nin\r\n' +
          '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\ncontent\r\n--x--\r\n',
      );
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      for (let length = 0; length < whole.length - 4; length += 7) {
        const { status } = await send(place, 'POST', '/api/upload', whole.subarray(0, length), headers);
        expect([length, status]).toEqual([length, 400]);
      }
      for (const type of [
        'multipart/form-data',
        'multipart/form-data; boundary=',
        'text/plain',
        'multipart/mixed; boundary=x',
      ]) {
        const { status } = await send(place, 'POST', '/api/upload', whole, { 'content-type': type });
        expect([type, status]).toEqual([type, 400]);
      }
      const fields = Buffer.from(
        `${'--x\r\ncontent-disposition: form-data; name="f"\r\n\r\nv\r\n'.repeat(100)}--x--\r\n`,
      );
      expect((await send(place, 'POST', '/api/upload', fields, headers)).status).toBe(413);
      expect((await send(place, 'POST', '/api/upload', whole, headers)).status).toBe(201);
      expect(await readdir(join(place.folder, '.mcpbridge-workspace/uploads'))).toEqual([]);
    });

    test('whatever was refused, no file or folder is left open', async () => {
      for (const ask of Object.values(ROUTES))
        for (const path of ['mine.txt', 'out', 'none/none']) await ask(place, path);
      await reset();
      for (const query of ['first_line=x', 'lines=0', 'lines=1', 'raw=true'])
        await send(place, 'GET', `/api/documents/mine.txt?${query}`);
      await send(place, 'GET', '/api/documents/mine.txt/raw', undefined, { range: 'bytes=99-' });
      await send(place, 'GET', '/api/documents?limit=1');
      const root = await realpath(place.folder);
      await eventually(
        'only the workspace itself is open',
        async () => {
          const links = await readdir(`/proc/${place.pid}/fd`);
          const opened = await Promise.all(
            links.map((fd) => readlink(`/proc/${place.pid}/fd/${fd}`).catch(() => '')),
          );
          return !opened.some((path) => path.startsWith(`${root}/sessions`));
        },
        2000,
      );
    });

    test('who has no token, or that of another session, gets nothing', async () => {
      const { token } = (await api(place.running).post('/api/sessions').send({ id: 'elsewhere' })).body;
      const get = (headers: Record<string, string>) =>
        fetch(`${place.running.url}/api/documents/mine.txt`, { headers }).then(({ status }) => status);
      expect(await get({})).toBe(401);
      expect(await get({ authorization: `Bearer ${token}` })).toBe(404);
      expect(await get({ authorization: `Bearer ${token}`, 'x-session-id': SESSION })).toBe(404);
      const guard = Buffer.from(
        json({ sessionId: 'x', home: '', read: [''], write: [''], blocked: [], env: {}, network: 'none' }),
      ).toString('base64url');
      expect(await get({ authorization: `Bearer ${token}`, 'x-workspace-guard': guard })).toBe(404);
    });
  });
}

/** What looks like an attack and is none: a name that is odd but within the folder, or a way to nothing of others. */
function isHarmless(kind: string, route: string): boolean {
  // These are names of files within.
  if (['one whose dots are encoded', 'one with back slashes', 'the address of a file'].includes(kind))
    return true;
  // The part behind the last slash is a name, and makes a file within.
  if (route === 'upload as') return true;
  // Nothing is there, and nobody else's: an empty list of versions.
  if (route === 'versions' && ['a pipe', 'a socket', 'a path through a file'].includes(kind)) return true;
  // A link, a pipe or a socket itself may be taken away, moved or replaced; nothing is read or written through it.
  if (!/^a (link to (a file|what is not there|itself)|pipe|socket)$/.test(kind)) return false;
  return [
    'delete',
    'move from',
    'move folder',
    'move to',
    'copy to',
    'copy to folder',
    'make folder',
  ].includes(route);
}
