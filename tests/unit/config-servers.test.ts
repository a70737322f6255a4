// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the configuration are meant
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ServersConfig } from '@mcpbridge/orchestrator/config/servers-config.js';
import { createLog } from '@mcpbridge/orchestrator/log.js';

let folder: string;
let file: string;
let overlay: string;
let config: ServersConfig;
const save = (servers: unknown) => config.save(servers, { isAdmin: true });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-config-'));
  file = join(folder, 'mcp_servers.json');
  overlay = join(folder, 'mcp_servers_user.json');
});
afterEach(async () => {
  config.close();
  await rm(folder, { recursive: true, force: true });
});

const log = createLog('error');
log.silent = true;

async function open(): Promise<ServersConfig> {
  config = await ServersConfig.open({ file, workspaceFolder: folder, env: { TOKEN: 't' }, log });
  return config;
}

const states = () => Object.fromEntries(config.servers.map(({ id, state }) => [id, state]));
const write = (content: unknown) =>
  writeFile(file, typeof content === 'string' ? content : JSON.stringify({ mcpServers: content }));

/** Carries out a change of the files and waits until the configuration has taken it up. */
async function whenHeard(change: () => Promise<unknown>): Promise<void> {
  const heard = new Promise<void>((resolve) => {
    const off = config.onChange(() => {
      off();
      resolve();
    });
  });
  await change();
  await heard;
}

describe('the files', () => {
  test('comments, trailing commas and a byte order mark are read', async () => {
    await write('\uFEFF{ // mine\n "mcpServers": { /* one */ "a": { "command": "x", }, }, }');
    await open();
    expect(states()).toEqual({ a: 'usable' });
    expect(config.faults).toEqual([]);
  });

  test("VS Code's file is read: servers, type, inputs", async () => {
    await write(
      JSON.stringify({
        inputs: [{ id: 'k' }],
        servers: {
          a: { type: 'stdio', command: 'x', env: { T: '${env:TOKEN}' } },
          b: { type: 'http', url: 'http://a.example' },
        },
      }),
    );
    await open();
    expect(states()).toEqual({ a: 'usable', b: 'usable' });
  });

  test('a missing base file is no server and one sentence that says where it was looked for', async () => {
    await open();
    expect(config.servers).toEqual([]);
    expect(config.faults).toEqual([`There is no "${file}"; set MCP_CONFIG to your file of servers.`]);
  });

  test('the overlay counts without a base file', async () => {
    await writeFile(overlay, '{"mcpServers":{"a":{"command":"x"}}}');
    await open();
    expect(config.servers).toMatchObject([{ id: 'a', origin: 'overlay', state: 'usable' }]);
  });

  test.each([
    ['{\n  "mcpServers": {\n    "a": oops\n}}', /is not JSON: .* at line 3, column 10\./],
    ['', /is empty/],
    ['[]', /must hold an object/],
    ['{"mcpServers": []}', /"mcpServers" in .* must be an object/],
    ['{"mcpServer": {}}', /has no "mcpServers"/],
    [
      '{"mcpServers": {"a": {"command":"x"}, "a": {"command":"y"}}}',
      /"a" stands twice .* line 1, column 39 counts/,
    ],
  ])('%j is a fault of the file', async (text, fault) => {
    await write(text);
    await open();
    expect(config.faults).toEqual([expect.stringMatching(fault)]);
  });

  test('three faults in one file: each is named with its server, the others work', async () => {
    await write({
      good: { command: 'x' },
      typo: { command: 'x', arg: [] },
      both: { command: 'x', url: 'https://a.example' },
      unset: { command: 'x', env: { KEY: '${NOT_SET}' } },
    });
    await open();
    expect(states()).toEqual({ both: 'faulty', good: 'usable', typo: 'faulty', unset: 'faulty' });
    const faults = config.servers.flatMap((server) => (server.state === 'faulty' ? server.faults : []));
    expect(faults).toEqual([
      'It has a "command" and a "url"; keep one of them.',
      '"arg" is not known; did you mean "args"?',
      '"env.KEY" of "unset" needs the environment variable "NOT_SET", which is not set.',
    ]);
  });

  test('servers are sorted by id, and relative commands run in the folder of the base file', async () => {
    await write({ b: { command: 'x' }, a: { command: 'y' } });
    await open();
    expect(config.servers.map((server) => server.id)).toEqual(['a', 'b']);
    expect(config.servers[0]).toMatchObject({ entry: { transport: { cwd: folder } } });
  });

  test('both accounts of one service are shown, without credentials', async () => {
    const account = (name: string) => ({
      url: 'https://mail.example/mcp',
      oauth: { token_file: `${name}.json`, client_secret: `canary-${name}` },
    });
    await write({ mail: account('work') });
    await writeFile(overlay, JSON.stringify({ mcpServers: { mail: account('home') } }));
    await open();
    expect(states()).toEqual({ mail: 'usable', 'mail-base': 'usable' });
    const shown = JSON.stringify(config.masked());
    expect(shown).toContain('home.json');
    expect(shown).toContain('work.json');
    expect(shown).not.toContain('canary');
  });
});

describe('hot reload', () => {
  test('a file that is written over, replaced by renaming, removed and made again is taken up each time', async () => {
    await write({ a: { command: 'x' } });
    await open();
    await whenHeard(() => write({ b: { command: 'x' } }));
    expect(states()).toEqual({ b: 'usable' });
    await whenHeard(async () => {
      await writeFile(`${file}.tmp`, '{"mcpServers":{"c":{"command":"x"}}}');
      await rename(`${file}.tmp`, file);
    });
    expect(states()).toEqual({ c: 'usable' });
    await whenHeard(() => rm(file));
    expect(states()).toEqual({});
    await whenHeard(() => write({ d: { command: 'x' } }));
    expect(states()).toEqual({ d: 'usable' });
  });

  test('an overlay that comes later is taken up', async () => {
    await write({ a: { command: 'x' } });
    await open();
    await whenHeard(() => writeFile(overlay, '{"mcpServers":{"b":{"command":"y"}}}'));
    expect(states()).toEqual({ a: 'usable', b: 'usable' });
  });

  test('a folder that comes later is taken up', async () => {
    file = join(folder, 'later', 'mcp_servers.json');
    await open();
    await whenHeard(async () => {
      await mkdir(join(folder, 'later'));
      await write({ a: { command: 'x' } });
    });
    expect(states()).toEqual({ a: 'usable' });
  });

  test('a broken file is reported and its servers stay in use until it is mended', async () => {
    await write({ a: { command: 'x' } });
    await open();
    await whenHeard(() => write('{"mcpServers": {'));
    expect(states()).toEqual({ a: 'usable' });
    expect(config.faults).toEqual([expect.stringMatching(/not JSON.*stay in use\.$/)]);
    await whenHeard(() => write({ b: { command: 'x' } }));
    expect(states()).toEqual({ b: 'usable' });
    expect(config.faults).toEqual([]);
  });

  test('the same servers written anew notify nobody', async () => {
    await write({ a: { command: 'x' } });
    await open();
    let heard = 0;
    config.onChange(() => (heard += 1));
    await write({ a: { command: 'x' } });
    await write('{"mcpServers": {"a": {"command": "x"}}} // written otherwise');
    await save({ a: { command: 'x' } });
    await whenHeard(() => write({ a: { command: 'y' } }));
    expect(heard).toBe(1);
  });

  test('a listener that fails keeps no other from hearing, and one that left hears nothing', async () => {
    await write({});
    await open();
    let heard = 0;
    config.onChange(() => {
      throw new Error('mine');
    });
    config.onChange(() => (heard += 1))();
    await whenHeard(() => write({ a: { command: 'x' } }));
    expect(heard).toBe(0);
  });
});
