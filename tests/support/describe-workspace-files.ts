import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from './api.js';
import { eventually } from './processes.js';
import type { OrchestratedWorkspace } from './workspaces.js';

/** What is promised of files, for the workspace at one place. */
export function describeWorkspaceFiles(name: string, start: () => Promise<OrchestratedWorkspace>): void {
  describe(`the files of a workspace that is ${name}`, () => {
    let place: OrchestratedWorkspace;
    beforeAll(async () => {
      place = await start();
    });
    afterAll(() => place.stop());

    const as = (session: string) => api(place.running, session);
    const raw = (path: string, init: RequestInit & { session?: string } = {}) =>
      fetch(place.running.url + path, {
        ...init,
        headers: { ...place.running.headers(init.session ?? 'raw'), ...init.headers },
      });

    test('a file is made once, written again, read, listed and deleted', async () => {
      const me = as('life');
      const made = await me.post('/api/documents').send({ filepath: 'notes/a.md', content: '# one' });
      expect([made.status, made.body]).toMatchObject([
        201,
        { filepath: 'notes/a.md', size: 5, created: true },
      ]);
      const again = await me.post('/api/documents').send({ filepath: 'notes/a.md', content: 'two' });
      expect([again.status, again.body.error.code]).toEqual([409, 'CONFLICT']);
      const put = await me.put('/api/documents/notes/a.md').send({ content: 'zwei 🎉' });
      expect([put.status, put.body.created]).toEqual([200, false]);
      const read = await me.get('/api/documents/notes/a.md');
      expect(read.body).toMatchObject({
        filepath: 'notes/a.md',
        content: 'zwei 🎉',
        encoding: 'utf-8',
        is_binary: false,
        mime_type: 'text/markdown',
        etag: put.body.etag,
      });
      const { documents } = (await me.get('/api/documents')).body;
      expect(
        documents.map((entry: { filepath: string; type: string }) => [entry.filepath, entry.type]),
      ).toEqual([
        ['notes', 'folder'],
        ['notes/a.md', 'file'],
      ]);
      expect((await me.delete('/api/documents/notes/a.md')).status).toBe(200);
      for (const missing of [
        await me.get('/api/documents/notes/a.md'),
        await me.delete('/api/documents/notes/a.md'),
      ])
        expect([missing.status, missing.body.error.code]).toEqual([404, 'NOT_FOUND']);
    });

    verifies('workspace.own-folder', async () => {
      expect((await as('one').get('/api/documents')).body).toEqual({ documents: [] });
      await as('one').put('/api/documents/mine.txt').send({ content: 'of one' });
      expect((await as('two').get('/api/documents/mine.txt')).status).toBe(404);
      expect((await as('two').get('/api/documents')).body).toEqual({ documents: [] });
      expect(await readFile(join(place.folder, 'sessions/one/mine.txt'), 'utf8')).toBe('of one');
      const token = (await api(place.running).post('/api/sessions').send({ id: 'bound' })).body.token;
      const bound = await fetch(`${place.running.url}/api/documents/x.txt`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}` },
        body: '{"content":"of the bearer"}',
      });
      expect(bound.status).toBe(201);
      expect(await readFile(join(place.folder, 'sessions/bound/x.txt'), 'utf8')).toBe('of the bearer');
    });

    verifies('workspace.policy-folders', async () => {
      const owner = api(place.running);
      const folders = { read: ['docs'], write: ['project'], blocked: ['project/secret'] };
      await mkdir(join(place.folder, 'docs/deep'), { recursive: true });
      await writeFile(join(place.folder, 'docs/deep/manual.txt'), 'read me');
      expect((await owner.post('/api/sessions').send({ id: 'parent', folders })).status).toBe(201);
      const wider = { read: ['docs/deep', 'sessions'], write: ['.'] };
      await owner.post('/api/sessions').send({ id: 'child', parent: 'parent', folders: wider });
      const outcome = async (session: string, method: 'get' | 'put', path: string) =>
        (
          await as(session)
            [method](`/api/documents/${path}`)
            .send(method === 'put' ? { content: 'x' } : {})
        ).status;
      expect(await outcome('parent', 'put', 'project/a.txt')).toBe(201);
      expect(await outcome('parent', 'get', 'docs/deep/manual.txt')).toBe(200);
      expect(await outcome('parent', 'put', 'docs/deep/manual.txt')).toBe(403);
      expect(await outcome('parent', 'put', 'project/secret/a.txt')).toBe(403);
      expect(await outcome('parent', 'put', 'project2/a.txt')).toBe(403);
      expect(await outcome('parent', 'get', 'sessions/one/mine.txt')).toBe(403);
      expect(await outcome('child', 'get', 'docs/deep/manual.txt')).toBe(200);
      expect(await outcome('child', 'put', 'docs/deep/manual.txt')).toBe(403);
      expect(await outcome('child', 'put', 'project/b.txt')).toBe(201);
      expect(await outcome('child', 'put', 'project/secret/b.txt')).toBe(403);
      expect(await outcome('child', 'get', 'sessions/one/mine.txt')).toBe(403);
      const { documents } = (await as('parent').get('/api/documents')).body;
      expect(documents.map((entry: { filepath: string }) => entry.filepath)).toEqual([
        'docs',
        'docs/deep',
        'docs/deep/manual.txt',
        'project',
        'project/a.txt',
        'project/b.txt',
      ]);
    });

    test.each(['../up', '/abs', 'a/../../b', ''])(
      'a policy whose folder is %j is refused',
      async (folder) => {
        const answer = await api(place.running)
          .post('/api/sessions')
          .send({ folders: { write: [folder] } });
        expect([answer.status, answer.body.error?.code]).toEqual([400, 'INVALID_REQUEST']);
      },
    );

    verifies('workspace.lost-update', async () => {
      const me = as('race');
      const { etag } = (await me.put('/api/documents/shared.txt').send({ content: 'base' })).body;
      const outcomes = await Promise.all(
        ['A', 'B', 'C', 'D'].map((content) =>
          me.put('/api/documents/shared.txt').set({ 'if-match': etag }).send({ content }),
        ),
      );
      expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
      const winner = outcomes.findIndex(({ status }) => status === 200);
      expect((await me.get('/api/documents/shared.txt')).body.content).toBe('ABCD'[winner]);
      const onlyNew = await me
        .put('/api/documents/shared.txt')
        .set({ 'if-none-match': '*' })
        .send({ content: 'E' });
      expect([onlyNew.status, onlyNew.body.error.code]).toEqual([412, 'PRECONDITION_FAILED']);
      const stale = await me.delete('/api/documents/shared.txt').set({ 'if-match': etag });
      expect(stale.status).toBe(412);
      const known = await raw('/api/documents/shared.txt', {
        session: 'race',
        headers: { 'if-none-match': outcomes[winner]?.body.etag },
      });
      expect(known.status).toBe(304);
    });

    verifies('workspace.whole-writes', async () => {
      const me = as('torn');
      const versions = ['a', 'b'].map((char) => char.repeat(200_000));
      await me.put('/api/documents/big.txt').send({ content: versions[0] });
      const writes = (async () => {
        for (let round = 0; round < 30; round += 1)
          await me.put('/api/documents/big.txt').send({ content: versions[round % 2] });
      })();
      let writing = true;
      void writes.finally(() => {
        writing = false;
      });
      while (writing) {
        const read = await me.get('/api/documents/big.txt');
        expect([read.status, versions.includes(read.body.content)]).toEqual([200, true]);
      }
      await writes;
      const { documents } = (await me.get('/api/documents')).body;
      expect(documents).toHaveLength(1);
    });

    test.each([
      ['empty', 'empty.txt', Buffer.alloc(0), 'utf-8'],
      ['of any extension', 'x.exe', Buffer.from('MZ'), 'utf-8'],
      ['without one', 'Makefile', Buffer.from('all:\n'), 'utf-8'],
      ['binary', 'data.bin', Buffer.from([0, 255, 1, 254]), 'base64'],
      ['an image', 'dot.png', Buffer.from('89504e470d0a1a0a0000', 'hex'), 'base64'],
      ['of a unicode name', 'Füße/日本語 🎉.txt', Buffer.from('naïve'), 'utf-8'],
      ['of a name with signs', 'a b&c=d#e%20?.txt', Buffer.from('odd'), 'utf-8'],
      ['of a name that is a route', 'notes/raw', Buffer.from('raw'), 'utf-8'],
      ['hidden', '.env', Buffer.from('A=1'), 'utf-8'],
    ])('a file that is %s comes back as it was', async (_what, path, bytes, encoding) => {
      const address = `/api/documents/${path.split('/').map(encodeURIComponent).join('/')}`;
      const put = await raw(address, {
        method: 'PUT',
        body: bytes,
        headers: { 'content-type': 'application/octet-stream' },
      });
      expect(put.status).toBe(201);
      const read = (await (await raw(address)).json()) as { content: string; encoding: string };
      expect(read).toMatchObject({ filepath: path, size: bytes.length, encoding });
      expect(Buffer.from(read.content, encoding as BufferEncoding)).toEqual(bytes);
      const back = await raw(address, {
        method: 'PUT',
        body: JSON.stringify({ content: read.content, encoding: read.encoding }),
      });
      expect(back.status).toBe(200);
      const plain = await raw(`${address}/raw`);
      expect(Buffer.from(await plain.arrayBuffer())).toEqual(bytes);
    });

    test('bytes are given in parts, and runs nothing in a page of ours', async () => {
      await raw('/api/documents/page.html', { method: 'PUT', body: '{"content":"<script>1</script>"}' });
      const part = await raw('/api/documents/page.html/raw', { headers: { range: 'bytes=1-6' } });
      expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
        206,
        'script',
        'bytes 1-6/18',
      ]);
      expect(part.headers.get('content-security-policy')).toContain('sandbox');
      const tail = await raw('/api/documents/page.html/raw', { headers: { range: 'bytes=-3' } });
      expect(await tail.text()).toBe('pt>');
      const beyond = await raw('/api/documents/page.html/raw', { headers: { range: 'bytes=100-' } });
      expect([beyond.status, await beyond.json()]).toMatchObject([
        416,
        { error: { code: 'RANGE_NOT_SATISFIABLE' } },
      ]);
      const stale = await raw('/api/documents/page.html/raw', {
        headers: { range: 'bytes=1-6', 'if-range': '"other"' },
      });
      expect([stale.status, (await stale.text()).length]).toEqual([200, 18]);
      const head = await raw('/api/documents/page.html/raw', { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '18']);
      const download = await raw('/api/documents/page.html?download=true');
      expect(download.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''page.html");
    });

    test('some lines of a file are read alone', async () => {
      const content = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join('\n');
      await as('lines').put('/api/documents/log.txt').send({ content });
      const { body } = await as('lines').get('/api/documents/log.txt?first_line=4999&lines=1');
      expect(body).toMatchObject({ content: 'line 4999', first_line: 4999, has_more: true });
      const last = await as('lines').get('/api/documents/log.txt?first_line=5000');
      expect(last.body).toMatchObject({ content: 'line 5000', has_more: false });
      const wrong = await as('lines').get('/api/documents/log.txt?first_line=x');
      expect(wrong.status).toBe(400);
    });

    test('files and folders are moved and copied, never over what is there', async () => {
      const me = as('move');
      await me.put('/api/documents/from/a.txt').send({ content: 'a' });
      await me.put('/api/documents/from/deep/b.txt').send({ content: 'b' });
      await me.put('/api/documents/other.txt').send({ content: 'other' });
      const taken = await me.post('/api/documents/from/a.txt/move').send({ destination_path: 'other.txt' });
      expect(taken.status).toBe(409);
      expect((await me.post('/api/documents/none.txt/move').send({ destination_path: 'x' })).status).toBe(
        404,
      );
      const moved = await me.post('/api/documents/from/a.txt/move').send({ destination_path: 'to/a.txt' });
      expect(moved.body).toEqual({ filepath: 'to/a.txt', moved_from: 'from/a.txt' });
      const over = { destination_path: 'other.txt', overwrite: true };
      expect((await me.post('/api/documents/to/a.txt/copy').send(over)).status).toBe(200);
      expect((await me.get('/api/documents/other.txt')).body.content).toBe('a');
      const into = { source_path: 'from', destination_path: 'from/deep/from' };
      expect((await me.post('/api/folders/move').send(into)).status).toBe(403);
      await me.post('/api/folders/copy').send({ source_path: 'from', destination_path: 'copied' });
      await me.post('/api/folders/move').send({ source_path: 'from', destination_path: 'moved' });
      const { documents } = (await me.get('/api/documents?folder=.')).body;
      expect(documents.map((entry: { filepath: string }) => entry.filepath)).toEqual([
        'copied',
        'copied/deep',
        'copied/deep/b.txt',
        'moved',
        'moved/deep',
        'moved/deep/b.txt',
        'other.txt',
        'to',
        'to/a.txt',
      ]);
      expect((await me.delete('/api/folders/moved')).status).toBe(409);
      expect((await me.delete('/api/folders/moved?recursive=true')).status).toBe(200);
      expect((await me.delete('/api/documents/copied')).status).toBe(409);
      expect((await me.post('/api/folders').send({ folder_path: 'new/deep' })).status).toBe(201);
      expect((await me.get('/api/documents?folder=new')).body.documents).toHaveLength(1);
    });

    test('a tree comes in pages that together are the whole, in order', async () => {
      const folder = join(place.folder, 'sessions/pages');
      for (const name of ['b', 'a', 'c'])
        for (const file of ['2.txt', '1.txt', '10.txt']) {
          await mkdir(join(folder, name), { recursive: true });
          await writeFile(join(folder, name, file), '');
        }
      await writeFile(join(folder, 'a.txt'), '');
      const paths: string[] = [];
      for (let after = ''; ; ) {
        const { body } = await as('pages').get(
          `/api/documents?limit=4${after && `&after=${encodeURIComponent(after)}`}`,
        );
        paths.push(...body.documents.map((entry: { filepath: string }) => entry.filepath));
        if (body.next === undefined) break;
        after = body.next;
      }
      const whole = (await as('pages').get('/api/documents')).body.documents;
      expect(paths).toEqual(whole.map((entry: { filepath: string }) => entry.filepath));
      expect(paths.slice(0, 5)).toEqual(['a', 'a/1.txt', 'a/10.txt', 'a/2.txt', 'a.txt']);
      expect(paths).toHaveLength(13);
      const shallow = await as('pages').get('/api/documents?max_depth=1');
      expect(shallow.body.documents).toHaveLength(4);
    });

    test('what a file may do stays when it is written again', async () => {
      const file = join(place.folder, 'sessions/mode/run.sh');
      await mkdir(join(place.folder, 'sessions/mode'), { recursive: true });
      await writeFile(file, 'one', { mode: 0o755 });
      await as('mode').put('/api/documents/run.sh').send({ content: 'two' });
      expect((await stat(file)).mode & 0o777).toBe(0o755);
    });

    test('an upload of bytes that breaks off leaves nothing', async () => {
      const gone = new AbortController();
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array(1000));
          setTimeout(() => gone.abort(), 50);
        },
      });
      const broken = raw('/api/documents/half.bin', {
        method: 'PUT',
        session: 'broken',
        body,
        duplex: 'half',
        signal: gone.signal,
        headers: { 'content-type': 'application/octet-stream' },
      } as RequestInit & { session: string });
      await expect(broken).rejects.toThrow();
      expect((await as('broken').get('/api/documents')).body.documents).toEqual([]);
    });

    test('many files are written at once, each with its own content', async () => {
      const me = as('many');
      const names = Array.from({ length: 60 }, (_, index) => `f${index}.txt`);
      await Promise.all(names.map((name) => me.put(`/api/documents/${name}`).send({ content: name })));
      const contents = await Promise.all(names.map((name) => me.get(`/api/documents/${name}`)));
      const digest = (texts: string[]) => createHash('sha256').update(texts.join()).digest('hex');
      expect(digest(contents.map(({ body }) => body.content))).toBe(digest(names));
    });

    test('a diff changes a file whole or not at all, and says what it let pass', async () => {
      const me = as('diff');
      const diff = (path: string, text: string, headers = {}) =>
        me.patch(`/api/documents/${path}/diff`).set(headers).send({ diff: text });
      const made = await diff('new/a.txt', '--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n');
      expect([made.status, made.body]).toMatchObject([
        201,
        { applied: true, how: 'exact', filepath: 'new/a.txt' },
      ]);
      const changed = await diff('new/a.txt', '@@ -9,2 +9,2 @@\n one\n-two\n+zwei\n');
      expect(changed.body).toMatchObject({
        how: 'repaired',
        repairs: ['lines are at other numbers'],
        created: false,
      });
      const misfit = await diff('new/a.txt', '@@ -1 +1 @@\n-one\n+eins\n@@ -2 +2 @@\n-two\n+2\n');
      expect([misfit.status, misfit.body.error]).toMatchObject([
        409,
        { code: 'DIFF_NOT_APPLIED', details: { part: 2, expected: 'two' } },
      ]);
      const stale = await diff('new/a.txt', '@@ -1 +1 @@\n-one\n+eins\n', { 'if-match': made.body.etag });
      expect(stale.status).toBe(412);
      expect((await me.get('/api/documents/new/a.txt')).body.content).toBe('one\nzwei\n');
      await me.put('/api/documents/b.bin').send({ content: 'AP8B', encoding: 'base64' });
      expect((await diff('b.bin', '@@ -1 +1 @@\n-one\n+eins\n')).status).toBe(409);
      const at = (line: number) => `@@ -${line} +${line} @@\n-${line}\n+${line}!\n`;
      await me.put('/api/documents/n.txt').send({ content: `${[1, 2, 3, 4, 5, 6, 7, 8].join('\n')}\n` });
      const all = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((line) => diff('n.txt', at(line))));
      expect(all.map(({ status }) => status)).toEqual(Array(8).fill(200));
      const { content } = (await me.get('/api/documents/n.txt')).body;
      expect(content).toBe('1!\n2!\n3!\n4!\n5!\n6!\n7!\n8!\n');
    });

    test('what a file was can be seen and brought back, after its deletion and under its new name, too', async () => {
      const me = as('past');
      for (const content of ['one', 'two', 'three'])
        await me.put('/api/documents/deep/a.txt').send({ content });
      const { versions } = (await me.get('/api/versions/deep/a.txt')).body;
      expect(versions).toHaveLength(2);
      const [newest, oldest] = versions;
      const shown = await me.get(`/api/versions/deep/a.txt?version=${oldest.id}`);
      expect(shown.body).toMatchObject({ version: oldest.id, content: 'one', filepath: 'deep/a.txt' });
      const bytes = await raw(`/api/versions/deep/a.txt?version=${newest.id}&raw=true`, { session: 'past' });
      expect(await bytes.text()).toBe('two');
      const restored = await me.post('/api/restore/deep/a.txt').send({ version: oldest.id });
      expect([restored.status, restored.body]).toMatchObject([
        200,
        { filepath: 'deep/a.txt', restored: oldest.id },
      ]);
      expect((await me.get('/api/documents/deep/a.txt')).body.content).toBe('one');
      await me.post('/api/documents/deep/move').send({ destination_path: 'moved' });
      expect((await me.get('/api/versions/moved/a.txt')).body.versions).toHaveLength(3);
      await me.delete('/api/folders/moved?recursive=true');
      expect((await me.get('/api/documents/moved/a.txt')).status).toBe(404);
      const { versions: left } = (await me.get('/api/versions/moved/a.txt?limit=1')).body;
      expect((await me.post('/api/restore/moved/a.txt').send({ version: left[0].id })).status).toBe(201);
      expect((await me.get('/api/documents/moved/a.txt')).body.content).toBe('one');
      const unknown = await me.post('/api/restore/moved/a.txt').send({ version: '../../../x' });
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'NOT_FOUND']);
      expect((await as('strange').get('/api/versions/moved/a.txt')).body.versions).toEqual([]);
    });

    test('of one file so many versions are kept, the latest', async () => {
      const me = as('often');
      for (let round = 0; round < 90; round += 1)
        await me.put('/api/documents/a.txt').send({ content: `round ${round}` });
      const kept = await eventually('no more than 50 are kept', async () => {
        const { versions } = (await me.get('/api/versions/a.txt')).body;
        return versions.length <= 50 && versions;
      });
      const last = await me.get(`/api/versions/a.txt?version=${kept[0].id}`);
      const folder = join(place.folder, '.mcpbridge-workspace/versions/sessions/often/a.txt');
      await eventually('not many more are on the disk', async () => (await readdir(folder)).length < 70);
      expect(last.body.content).toBe('round 88');
    });

    test('the files of an upload are told in the order in which they came, also when a later one is written first', async () => {
      const form = new FormData();
      form.append('file', new Blob(['x'.repeat(20_000_000)]), 'long.txt');
      for (const name of ['a.txt', 'b.txt', 'c.txt']) form.append('file', new Blob([name]), name);
      const done = await raw('/api/upload', { method: 'POST', session: 'order', body: form });
      const { files } = (await done.json()) as { files: { filepath: string }[] };
      expect(files.map(({ filepath }) => filepath)).toEqual(['long.txt', 'a.txt', 'b.txt', 'c.txt']);
    });

    test('files are uploaded as multipart, several at once, in any order of the fields', async () => {
      const upload = (form: FormData) =>
        raw('/api/upload', { method: 'POST', session: 'upload', body: form });
      const form = new FormData();
      form.append('file', new Blob([Buffer.from([0, 1, 255])]), 'b.bin');
      form.append('file', new Blob(['text']), 'Füße 🎉.txt');
      form.append('folder_path', 'in/coming');
      const done = await upload(form);
      expect([done.status, await done.json()]).toMatchObject([
        201,
        {
          files: [
            { filepath: 'in/coming/b.bin', size: 3 },
            { filepath: 'in/coming/Füße 🎉.txt', size: 4 },
          ],
        },
      ]);
      const bytes = await raw('/api/documents/in/coming/b.bin/raw', { session: 'upload' });
      expect(Buffer.from(await bytes.arrayBuffer())).toEqual(Buffer.from([0, 1, 255]));
      expect((await upload(form)).status).toBe(409);
      form.append('overwrite', 'true');
      expect((await upload(form)).status).toBe(201);
      const none = new FormData();
      none.append('folder_path', 'x');
      expect((await upload(none)).status).toBe(400);
      const noForm = await raw('/api/upload', { method: 'POST', body: '{}' });
      expect([noForm.status, await noForm.json()]).toMatchObject([
        400,
        { error: { code: 'INVALID_REQUEST' } },
      ]);
      const cut = await raw('/api/upload', {
        method: 'POST',
        session: 'upload',
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        body: '--x\r\ncontent-disposition: form-data; name="file"; filename="cut.txt"\r\n\r\nhalf',
      });
      expect(cut.status).toBe(400);
      const { documents } = (await as('upload').get('/api/documents')).body;
      expect(documents.filter(({ type }: { type: string }) => type === 'file')).toHaveLength(2);
      expect(await readdir(join(place.folder, '.mcpbridge-workspace/uploads'))).toEqual([]);
    });
  });
}
