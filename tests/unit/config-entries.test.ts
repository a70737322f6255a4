// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the configuration are meant
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readEntry } from '@mcpbridge/orchestrator/config/read-entry.js';

const context = {
  env: { HOME: '/home/me', TOKEN: 's3cret', EMPTY: '', HOST: 'api.example', WORKSPACE_DIR: '/elsewhere' },
  workspaceFolder: '/srv/work',
  folder: '/etc/servers',
};
const read = (raw: unknown, id = 'one') => readEntry(id, { origin: 'base', raw }, context);

function usable(raw: unknown) {
  const server = read(raw);
  if (server.state !== 'usable') throw new Error(JSON.stringify(server));
  return server.entry;
}

function faults(raw: unknown, id?: string) {
  const server = read(raw, id);
  return server.state === 'faulty' ? server.faults : [];
}

describe('transports', () => {
  test('a command is stdio, in the folder of the file unless it names another', () => {
    expect(usable({ command: 'npx', args: ['-y', 'x'] }).transport).toEqual({
      kind: 'stdio',
      command: 'npx',
      args: ['-y', 'x'],
      env: {},
      cwd: '/etc/servers',
    });
    expect(usable({ command: 'x', cwd: 'sub' }).transport).toMatchObject({ cwd: '/etc/servers/sub' });
    expect(usable({ command: 'x', working_dir: '/abs' }).transport).toMatchObject({ cwd: '/abs' });
  });

  test.each([
    [{ url: 'https://a.example/mcp' }, 'http'],
    [{ url: 'https://a.example/sse' }, 'sse'],
    [{ url: 'https://a.example/sse', type: 'http' }, 'http'],
    [{ url: 'https://a.example/mcp', type: 'sse' }, 'sse'],
    [{ url: 'https://a.example/mcp', transport: 'streamable-http' }, 'http'],
    [{ url: 'https://a.example/mcp', type: 'streamableHttp' }, 'http'],
    [{ url: 'https://a.example/mcp', protocol: 'http' }, 'http'],
    [{ httpUrl: 'https://a.example/mcp' }, 'http'],
    [{ serverUrl: 'https://a.example/sse' }, 'sse'],
  ])('%j is reached over %s', (raw, kind) => {
    expect(usable(raw).transport).toMatchObject({ kind, url: Object.values(raw)[0] });
  });

  test('numbers and booleans of env, args and headers become text, null leaves a variable out', () => {
    const { transport } = usable({
      command: 'x',
      args: ['--port', 80],
      env: { PORT: 80, ON: true, NOT: null },
    });
    expect(transport).toEqual({
      kind: 'stdio',
      command: 'x',
      args: ['--port', '80'],
      env: { PORT: '80', ON: 'true' },
      cwd: '/etc/servers',
    });
  });

  test('isolation, time-outs and description are read', () => {
    expect(
      usable({ command: 'x', isolation: 'shared', timeout: '2m', startTimeout: 500, description: 'D' }),
    ).toMatchObject({ isolation: 'shared', timeoutMs: 120_000, startTimeoutMs: 500, description: 'D' });
    expect(usable({ command: 'x' })).toMatchObject({ isolation: 'session' });
  });
});

describe('placeholders', () => {
  test('are replaced in command, args, env, cwd, url and headers', () => {
    expect(
      usable({
        command: '${HOME}/bin/x',
        args: ['${env:TOKEN}', 'a${HOST}b${HOST}'],
        env: { T: '${TOKEN}' },
        cwd: '${HOME}',
      }).transport,
    ).toMatchObject({
      command: '/home/me/bin/x',
      args: ['s3cret', 'aapi.examplebapi.example'],
      env: { T: 's3cret' },
      cwd: '/home/me',
    });
    expect(
      usable({ url: 'https://${HOST}/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } }).transport,
    ).toMatchObject({ url: 'https://api.example/mcp', headers: { Authorization: 'Bearer s3cret' } });
  });

  test('a default stands in for a variable that is not set or empty', () => {
    const { transport } = usable({
      command: 'x',
      args: ['${NO:-a b}', '${EMPTY:-c}', '${TOKEN:-d}', '${NO:-}', '${EMPTY}'],
    });
    expect(transport).toMatchObject({ args: ['a b', 'c', 's3cret', '', ''] });
  });

  test('the workspace folder is that of the settings, whatever the environment says', () => {
    const { transport } = usable({ command: 'x', args: ['${WORKSPACE_DIR}', '${workspaceFolder}/a'] });
    expect(transport).toMatchObject({ args: ['/srv/work', '/srv/work/a'] });
  });

  test('other text with a dollar stays as it is, and a value is not looked through again', () => {
    const args = ['$HOME', '$$', '${', '${}', '${1}', 'cost: 5$'];
    expect(usable({ command: 'x', args }).transport).toMatchObject({ args });
    const nested = readEntry(
      'one',
      { origin: 'base', raw: { command: 'x', args: ['${A}'] } },
      { ...context, env: { A: '${TOKEN}' } },
    );
    expect(nested).toMatchObject({ entry: { transport: { args: ['${TOKEN}'] } } });
  });

  test('a variable that is not set is a fault that names it, its place and the server', () => {
    expect(faults({ command: 'x', env: { KEY: '${GITHUB_TOKEN}' } }, 'github')).toEqual([
      '"env.KEY" of "github" needs the environment variable "GITHUB_TOKEN", which is not set.',
    ]);
  });

  test('what only VS Code can ask for is a fault', () => {
    expect(faults({ command: 'x', env: { KEY: '${input:api-key}' } }).join()).toMatch(
      /\$\{input:api-key\}.*VS Code/,
    );
  });
});

describe('faults', () => {
  test.each([
    [{ command: 'x', arg: [] }, '"arg" is not known; did you mean "args"?'],
    [{ command: 'x', agrs: [] }, '"agrs" is not known; did you mean "args"?'],
    [{ comand: 'x' }, '"comand" is not known; did you mean "command"?'],
    [{ command: 'x', Env: {} }, '"Env" is not known; did you mean "env"?'],
    [{ command: 'x', start_timeout: 5 }, '"start_timeout" is not known; did you mean "startTimeout"?'],
    [{ url: 'https://a.example', header: {} }, '"header" is not known; did you mean "headers"?'],
  ])('%j: %s', (raw, fault) => {
    expect(faults(raw)).toContain(fault);
  });

  test('fields of other clients are kept and mean nothing', () => {
    const foreign = {
      ...{
        autoApprove: [],
        alwaysAllow: [],
        trust: true,
        gallery: true,
        icon: 'x',
        version: '1',
      },
      ...{ metadata: {}, tools: ['*'], tags: [], id: 'x', name: 'x', title: 'x', unheardOf: 1 },
    };
    const server = read({ command: 'x', ...foreign });
    expect(server).toMatchObject({ state: 'usable', raw: foreign });
  });

  test.each([
    [{}, 'It needs a "command" to start, a "url" to call or a "docker" image to run.'],
    [{ command: 'x', url: 'https://a.example' }, 'It has a "command" and a "url"; keep one of them.'],
    [{ command: '' }, '"command" is empty.'],
    [{ command: '${EMPTY}' }, '"command" is empty.'],
    [{ command: ['npx', 'x'] }, '"command" must be string, got array.'],
    [{ command: 'x', args: 'a' }, '"args" must be array, got string.'],
    [{ command: 'x', args: [{}] }, '"args.0" must be string or number or boolean, got object.'],
    [
      { command: 'x', env: { 'a/b': {} } },
      '"env.a/b" must be string or number or boolean or null, got object.',
    ],
    [{ command: 'x', isolation: 'none' }, '"isolation" must be one of ["session","shared"].'],
    [
      { command: 'x', timeout: 'soon' },
      '"timeout" is "soon"; write a time such as "30s" or "5m", or milliseconds.',
    ],
    [{ command: 'x', disabled: 'yes' }, '"disabled" must be boolean, got string.'],
    [{ url: 'ftp://a.example' }, '"url" must be an http or https address.'],
    [{ url: 'a.example/mcp' }, '"url" must be an http or https address.'],
    [{ url: 'https://a.example', type: 'websocket' }, '"type" is "websocket"; use "stdio", "http" or "sse".'],
    [
      { url: 'https://a.example', type: 'stdio' },
      'It is of type "stdio", which needs a "command" and not a "url".',
    ],
    [{ command: 'x', type: 'sse' }, 'It is of type "sse", which needs a "url" and not a "command".'],
    [
      { url: 'https://a.example', type: 'sse', transport: 'http' },
      '"type", "protocol" and "transport" contradict each other; keep one of them.',
    ],
    ['npx x', 'Its definition must be an object: {"command": …}, {"url": …} or {"docker": …}.'],
    [null, 'Its definition must be an object: {"command": …}, {"url": …} or {"docker": …}.'],
  ])('%j: %s', (raw, fault) => {
    expect(faults(raw)).toEqual([fault]);
  });

  test('all faults of an entry are named at once', () => {
    expect(
      faults({ command: 'x', arg: [], timeout: 'soon', env: { A: '${NO}' }, isolation: 1 }),
    ).toHaveLength(4);
  });

  test.each(['custom', 'virtual', 'workspace', '', ' a', 'a/b', 'ä', 'a'.repeat(65), 'a"b'])(
    'a server cannot be named %j',
    (id) => {
      expect(faults({ command: 'x' }, id)).toHaveLength(1);
    },
  );

  test.each(['a', 'my server', 'a.b_c-d', 'A'.repeat(64)])('a server can be named %j', (id) => {
    expect(read({ command: 'x' }, id).state).toBe('usable');
  });

  test('a server that is switched off needs nothing else, and what it lacks is no fault', () => {
    for (const raw of [
      { disabled: true },
      { enabled: false },
      { command: 'x', env: { A: '${NO}' }, disabled: true },
    ]) {
      expect(read(raw)).toEqual({ id: 'one', origin: 'base', state: 'disabled', raw });
    }
  });
});

test('warm is a number of processes, or true for one, and nothing for a server that is called at its address', () => {
  expect(usable({ command: 'x', warm: 3 }).warm).toBe(3);
  expect(usable({ command: 'x', warm: true }).warm).toBe(1);
  expect(usable({ command: 'x', warm: false })).not.toHaveProperty('warm');
  expect(faults({ command: 'x', warm: -1 })).toEqual(['"warm" must be >= 0.']);
  expect(faults({ url: 'http://a.example/mcp', warm: 1 })).toEqual([
    '"warm" keeps processes ready, and a server with a "url" has none; take it out.',
  ]);
});

test('allowPrivate is true or false, and only about an address', () => {
  expect(usable({ url: 'http://a.example/mcp', allowPrivate: true }).transport).toHaveProperty(
    'allowPrivate',
    true,
  );
  expect(usable({ url: 'http://a.example/mcp' }).transport).not.toHaveProperty('allowPrivate');
  expect(faults({ url: 'http://a.example/mcp', allowPrivate: 'yes' })).toHaveLength(1);
  expect(faults({ command: 'x', allowPrivate: true })).toEqual([
    '"allowPrivate" is about a "url", and this server has none; take it out.',
  ]);
});

test('the variables of an envFile are there, those of env before them, and a file that is not there is named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcpbridge-test-'));
  await writeFile(join(folder, 'some.env'), '# mine\nKEY="a b"\nexport OTHER=from-file\nEMPTY=\n');
  const from = (envFile: string) =>
    readEntry(
      'one',
      { origin: 'base', raw: { command: 'x', envFile, env: { OTHER: 'mine' } } },
      { ...context, folder },
    );
  expect(from('some.env')).toMatchObject({
    entry: { transport: { env: { KEY: 'a b', OTHER: 'mine', EMPTY: '' } } },
  });
  expect(from('${WORKSPACE_DIR}/gone.env')).toMatchObject({
    faults: ['"envFile" names "/srv/work/gone.env", which does not exist.'],
  });
  await rm(folder, { recursive: true });
});

test('turns name tools by patterns and the arguments that say what they work on', () => {
  const [rule] = usable({ command: 'x', turns: { 'a.*_file': ['path'] } }).turns ?? [];
  expect(rule?.arguments).toEqual(['path']);
  expect(['a.write_file', 'abwrite_file', 'a.write_files'].map((name) => rule?.tools.test(name))).toEqual([
    true,
    false,
    false,
  ]);
  expect(faults({ command: 'x', turns: { write: 'path' } })).toEqual([
    '"turns.write" must be array, got string.',
  ]);
});
