import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { startOrchestrator } from '../support/orchestrator.js';
import { startBridge } from '../support/spawned-bridge.js';
import { type OrchestratedWorkspace, PLACES, startWorkspace } from '../support/workspaces.js';

describe.each(PLACES)('the tools of a workspace that is %s', (_name, start) => {
  let place: OrchestratedWorkspace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.stop());

  const call = async (session: string, tool: string, args: object) =>
    (await api(place.running, session).post(`/tools/custom/${tool}`).send(args)).body;

  test('files are written, listed, read, patched, with what went wrong as the answer of the tool', async () => {
    const { result } = await call('agent', 'write_workspace_file', {
      filepath: 'src/a.ts',
      content: 'one\ntwo\n',
    });
    expect(result).toMatch(/^src\/a\.ts was made: 8 bytes, etag "/);
    const etag = result.slice(result.indexOf('"'), result.lastIndexOf('"') + 1);
    expect((await call('agent', 'list_workspace_files', {})).result).toBe('src/\nsrc/a.ts (8 bytes)');
    const read = await call('agent', 'read_workspace_file', {
      filepath: 'src/a.ts',
      first_line: 2,
      lines: 1,
    });
    expect(read.content).toEqual([
      { type: 'text', text: 'two' },
      { type: 'text', text: `[src/a.ts: to its end; 8 bytes; etag ${etag}]` },
    ]);
    const diff = '@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n';
    const patched = await call('agent', 'diff_patch_workspace_file', { filepath: 'src/a.ts', diff });
    expect(patched).toMatchObject({
      success: true,
      result: expect.stringMatching(/^src\/a\.ts was changed: 9 bytes/),
    });
    const again = await call('agent', 'diff_patch_workspace_file', { filepath: 'src/a.ts', diff });
    expect([again.success, again.isError]).toEqual([false, true]);
    expect(again.result).toMatch(
      /nearest is at line 1:\none\nzwei\n.*\n\[code: DIFF_NOT_APPLIED, layer: workspace\]/,
    );
    const stale = { filepath: 'src/a.ts', content: 'x', etag };
    expect((await call('agent', 'write_workspace_file', stale)).result).toContain('PRECONDITION_FAILED');
    const outside = await call('agent', 'read_workspace_file', { filepath: '../other/a.ts' });
    expect([outside.isError, outside.result]).toEqual([true, expect.stringContaining('PATH_NOT_ALLOWED')]);
    expect((await call('other', 'list_workspace_files', {})).result).toBe('The folder is empty.');
  });

  test('files are searched through the bridge, in both modes, as the session may', async () => {
    const write = (session: string, filepath: string, content: string) =>
      call(session, 'write_workspace_file', { filepath, content });
    await write('finder', 'src/a.ts', 'zero\nconst Needle = 1;\ntwo\n');
    await write('finder', 'notes/b.md', 'a needle, and another needle\n');
    await write('stranger', 'c.md', 'needle of somebody else\n');
    const { running } = place;
    const access = { MCP_API_URL: `${running.url}/api`, MCP_API_TOKEN: running.token };
    const bridges = [
      startBridge({ ...access, MCP_SESSION_ID: 'finder' }),
      startBridge({
        ...access,
        MCP_SESSION_ID: 'finder',
        MCP_TOOLS: JSON.stringify([{ name: 'search_workspace_files', type: 'custom' }]),
      }),
    ];
    for (const bridge of bridges) {
      await bridge.initialize();
      const search = async (args: object) => {
        const { result } = await bridge.callTool('search_workspace_files', args);
        const [{ text }] = (result as { content: [{ text: string }] }).content;
        return text;
      };
      expect(await search({ query: 'needle' })).toBe(
        'notes/b.md:1: a needle, and another needle\nsrc/a.ts:2: const Needle = 1;',
      );
      expect(await search({ query: 'needle', case_sensitive: true, glob: '*.ts' })).toBe(
        'Nothing was found.',
      );
      expect(await search({ query: 'need.e = \\d', regex: true, context: 1 })).toBe(
        'src/a.ts-1- zero\nsrc/a.ts:2: const Needle = 1;\nsrc/a.ts-3- two',
      );
      expect(await search({ query: 'needle', limit: 1 })).toContain('[There is more: narrow the search]');
      expect(await search({ query: 'needle', folder: '../stranger' })).toContain('PATH_NOT_ALLOWED');
      expect(await search({ query: '(', regex: true })).toContain('no regular expression');
    }
  });

  test('of an image the picture is shown, of other bytes what they are', async () => {
    const bytes = Buffer.from('89504e470d0a1a0a0000', 'hex').toString('base64');
    for (const filepath of ['a.png', 'a.bin'])
      await call('pictures', 'write_workspace_file', { filepath, content: bytes, encoding: 'base64' });
    const shown = await call('pictures', 'read_workspace_file', { filepath: 'a.png' });
    expect(shown.content).toEqual([{ type: 'image', data: bytes, mimeType: 'image/png' }]);
    const told = await call('pictures', 'read_workspace_file', { filepath: 'a.bin' });
    expect(told.result).toBe('a.bin is no text: 10 bytes of application/octet-stream.');
  });

  test('a policy rules them as any other tool', async () => {
    const tools = { allow: ['read_workspace_file', 'bare__*'] };
    await api(place.running).post('/api/sessions').send({ id: 'ruled', tools });
    const listed = (await api(place.running, 'ruled').get('/api/tools')).body.tools;
    expect(listed.map(({ name }: { name: string }) => name)).toEqual([
      'bare__big',
      'bare__echo',
      'bare__slow',
      'read_workspace_file',
    ]);
    const refused = await call('ruled', 'write_workspace_file', { filepath: 'a', content: '' });
    expect(refused.error.code).toBe('TOOL_NOT_ALLOWED');
  });

  test('who may not use the shell as a tool may not use it as an address either', async () => {
    const execute = async (session: string) =>
      (await api(place.running, session).post('/api/execute').send({ command: 'echo ran' })).body;
    const sessions = {
      allowing: { allow: ['bare__*'] },
      denying: { deny: ['execute_shell_command'] },
      approving: { approve: ['execute_shell_command'] },
    };
    for (const [id, tools] of Object.entries(sessions))
      await api(place.running).post('/api/sessions').send({ id, tools });
    expect((await execute('allowing')).error.code).toBe('TOOL_NOT_ALLOWED');
    expect((await execute('denying')).error.code).toBe('TOOL_NOT_ALLOWED');
    expect((await execute('approving')).error.code).toBe('NOT_APPROVED');
    expect((await execute('free')).stdout).toBe('ran\n');
  });

  verifies('workspace.large-results', async () => {
    const policy = { id: 'spill', limits: { resultBytes: 2000 }, largeResults: 'workspace' };
    expect((await api(place.running).post('/api/sessions').send(policy)).status).toBe(201);
    const { body } = await api(place.running, 'spill').post('/tools/mcp/bare/big').send({ bytes: 300_000 });
    const [, file = ''] = /kept: file "([^"]+)" of the workspace/.exec(body.result) ?? [];
    expect(file).toMatch(/^tool_outputs\/bare__big-[0-9a-f-]{36}\.txt$/);
    const whole = await readFile(join(place.folder, 'sessions/spill', file), 'utf8');
    expect([whole.length, /^x+$/.test(whole)]).toEqual([300_000, true]);
    const read = await call('spill', 'read_workspace_file', { filepath: file });
    expect(read.result).toContain('The whole is kept: read_workspace_file with first_line and lines.');
    const found = await call('spill', 'search_workspace_files', { query: 'xxx' });
    expect(found.result).toContain(`${file}:1: xxx`);
    expect(await readdir(join(place.folder, 'sessions/spill/tool_outputs'))).toHaveLength(1);
    const child = { id: 'spill-child', parent: 'spill' };
    await api(place.running).post('/api/sessions').send(child);
    const again = await api(place.running, 'spill-child').post('/tools/mcp/bare/big').send({ bytes: 3000 });
    expect(again.body.result).toContain('of the workspace');
    const readOnly = { ...policy, id: 'spill-nowhere', folders: { read: ['docs'] } };
    await api(place.running).post('/api/sessions').send(readOnly);
    const kept = await api(place.running, 'spill-nowhere').post('/tools/mcp/bare/big').send({ bytes: 3000 });
    expect(kept.body.result).toContain('read_large_output');
  });
});

test('both find their token in one file, which whoever starts first makes; with another one nothing is done', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcpbridge-secret-'));
  const env = { WORKSPACE_TOKEN: '', WORKSPACE_TOKEN_FILE: join(folder, 'token') };
  const workspace = await startWorkspace(env);
  const knowing = await startOrchestrator({ env: { ...env, WORKSPACE_URL: workspace.url } });
  const other = { WORKSPACE_URL: workspace.url, WORKSPACE_TOKEN: 'of another workspace' };
  const strange = await startOrchestrator({ env: other });
  try {
    expect((await stat(env.WORKSPACE_TOKEN_FILE)).mode & 0o777).toBe(0o600);
    expect((await api(knowing).get('/api/documents')).body).toEqual({ documents: [] });
    const refused = await api(strange).get('/api/documents');
    expect([refused.status, refused.body.error.message]).toEqual([
      503,
      'The workspace refuses our token: WORKSPACE_TOKEN must be its own.',
    ]);
    const direct = await fetch(`${workspace.url}/api/documents`);
    expect([direct.status, (await fetch(`${workspace.url}/health`)).status]).toEqual([401, 200]);
  } finally {
    await Promise.all([knowing, strange, workspace].map((one) => one.stop()));
    await rm(folder, { recursive: true });
  }
});

test('a workspace that is not there is told as that, and everything else works', async () => {
  const [, startApart] = PLACES[1] as (typeof PLACES)[0];
  const place = await startApart();
  try {
    await place.stopWorkspace?.();
    const me = api(place.running, 'alone');
    const answer = await me.get('/api/documents');
    expect([answer.status, answer.body.error]).toMatchObject([
      503,
      { code: 'WORKSPACE_UNAVAILABLE', retryable: true, layer: 'workspace' },
    ]);
    const tool = await me.post('/tools/custom/list_workspace_files').send({});
    expect([tool.status, tool.body.error.code]).toEqual([503, 'WORKSPACE_UNAVAILABLE']);
    const other = await me.post('/tools/mcp/bare/echo').send({ text: 'hello' });
    expect(other.body.result).toBe('hello');
  } finally {
    await place.stop();
  }
});

test('a workspace that stands still is told as that; one that only takes long is waited for', async () => {
  const [, startApart] = PLACES[1] as (typeof PLACES)[0];
  const [frozen, busy] = await Promise.all([startApart(), startApart()]);
  try {
    const long = api(busy.running, 'long').post('/api/execute').send({ command: 'sleep 12; echo done' });
    const answered = long.then(({ body }) => body.stdout);
    process.kill(frozen.pid ?? 0, 'SIGSTOP');
    const me = api(frozen.running, 'alone');
    const [file, tool] = await Promise.all([
      me.get('/api/documents'),
      me.post('/tools/custom/list_workspace_files').send({}),
    ]);
    for (const { status, body } of [file, tool])
      expect([status, body.error]).toMatchObject([
        503,
        {
          code: 'WORKSPACE_UNAVAILABLE',
          message: expect.stringMatching(/stopped answering/),
          retryable: true,
        },
      ]);
    expect(await answered).toBe('done\n');
    process.kill(frozen.pid ?? 0, 'SIGCONT');
    expect((await me.get('/api/documents')).status).toBe(200);
  } finally {
    process.kill(frozen.pid ?? 0, 'SIGCONT');
    await Promise.all([frozen.stop(), busy.stop()]);
  }
}, 60_000);
