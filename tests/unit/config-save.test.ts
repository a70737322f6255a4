// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the configuration are meant
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ServersConfig } from '@mcpbridge/orchestrator/config/servers-config.js';
import { createLog } from '@mcpbridge/orchestrator/log.js';

type Servers = Record<string, unknown>;

const M = '********';
const log = createLog('error');
log.silent = true;
let folder: string;
let overlayFile: string;
let config: ServersConfig;
const save = (servers: unknown) => config.save(servers, { isAdmin: true });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-save-'));
  overlayFile = join(folder, 'servers_user.json');
});
afterEach(async () => {
  config.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(base: Servers, overlay?: Servers | string): Promise<void> {
  const file = join(folder, 'servers.json');
  await writeFile(file, JSON.stringify({ mcpServers: base }));
  const text = typeof overlay === 'object' ? JSON.stringify({ mcpServers: overlay }) : overlay;
  if (text !== undefined) await writeFile(overlayFile, text);
  config = await ServersConfig.open({ file, workspaceFolder: folder, env: {}, log });
}

const overlay = async () => JSON.parse(await readFile(overlayFile, 'utf8')).mcpServers;
const shown = () => config.masked().mcpServers as Servers;
const states = () => Object.fromEntries(config.servers.map(({ id, state }) => [id, state]));
async function faultsOf(servers: unknown): Promise<string[]> {
  const failure = await save(servers).then(
    () => undefined,
    (error) => error,
  );
  expect(failure?.code).toBe('CONFIG_INVALID');
  for (const fault of failure.details.faults) expect(failure.message).toContain(fault);
  return failure.details.faults;
}

const account = (file: string) => ({ url: 'https://mail.example/mcp', oauth: { token_file: file } });

test('only the overlay is written, and only what differs from the base', async () => {
  await open({ a: { command: 'a' } });
  await save({ a: { command: 'a' }, b: { command: 'b' } });
  expect(await overlay()).toEqual({ b: { command: 'b' } });
  expect(JSON.parse(await readFile(config.paths.base, 'utf8'))).toEqual({
    mcpServers: { a: { command: 'a' } },
  });
  expect(states()).toEqual({ a: 'usable', b: 'usable' });
});

test('what was shown and is given back changes nothing, secrets included', async () => {
  const base = { a: { command: 'a', env: { KEY: 'base-secret' } } };
  const user = { b: { url: 'https://b.example?key=k', headers: { Authorization: 'Bearer user-secret' } } };
  await open(base, user);
  await save(shown());
  expect(await overlay()).toEqual(user);
  expect(states()).toEqual({ a: 'usable', b: 'usable' });
});

test('a masked value stays when the rest of its entry changes', async () => {
  await open({}, { b: { command: 'b', env: { KEY: 'secret', MODE: 'x' } } });
  await save({ b: { command: 'c', env: { KEY: M, MODE: 'y' } } });
  expect(await overlay()).toEqual({ b: { command: 'c', env: { KEY: 'secret', MODE: 'y' } } });
});

test('a masked value for which nothing is stored is refused', async () => {
  await open({});
  expect(await faultsOf({ b: { command: 'b', env: { KEY: M } } })).toEqual([
    '"b": "env.KEY" is masked and nothing is stored for it; write the value or a ${NAME}.',
  ]);
});

test('every fault is named at once, and then nothing is written', async () => {
  await open({ a: { command: 'a' } }, { b: { command: 'b' } });
  const faults = await faultsOf({ a: { command: 'a', arg: [] }, b: {}, custom: { command: 'x' } });
  expect(faults).toEqual([
    '"a": "arg" is not known; did you mean "args"?',
    '"b": It needs a "command" to start, a "url" to call or a "docker" image to run.',
    expect.stringMatching(/^"custom": The name/),
  ]);
  expect(await overlay()).toEqual({ b: { command: 'b' } });
});

test.each([[undefined], [null], [[]], ['x']])('%j instead of servers is refused', async (given) => {
  await open({});
  expect(await faultsOf(given)).toHaveLength(1);
});

test('a server that is faulty as it stands keeps no other from being saved', async () => {
  await open(
    { unset: { command: 'x', env: { A: '${NOT_SET}' } } },
    { mine: { command: 'x', env: { B: '${NO}' } } },
  );
  await save({ ...shown(), b: { command: 'b' } });
  expect(states()).toEqual({ b: 'usable', mine: 'faulty', unset: 'faulty' });
});

test('a server of the overlay that is left out is gone, one of the base is switched off', async () => {
  await open({ a: { command: 'a' } }, { b: { command: 'b' } });
  await save({});
  expect(await overlay()).toEqual({ a: { disabled: true } });
  expect(states()).toEqual({ a: 'disabled' });
  expect(shown()).toEqual({ a: { command: 'a', disabled: true } });
});

test('a server of the base is switched off and on again without being copied', async () => {
  await open({ a: { command: 'a' }, off: { command: 'o', disabled: true } });
  await save({ a: { command: 'a', disabled: true }, off: { command: 'o' } });
  expect(await overlay()).toEqual({ a: { disabled: true }, off: { disabled: false } });
  expect(states()).toEqual({ a: 'disabled', off: 'usable' });
  await save(shown());
  expect(states()).toEqual({ a: 'disabled', off: 'usable' });
  await save({ a: { command: 'a' }, off: { command: 'o', disabled: true } });
  expect(await overlay()).toEqual({});
});

test('entries with nothing but a switch are accepted', async () => {
  await open({ a: { command: 'a' } });
  await save({ a: { disabled: true } });
  expect(states()).toEqual({ a: 'disabled' });
});

test('two accounts of one service survive being shown and given back', async () => {
  await open({ mail: account('work.json') }, { mail: account('home.json') });
  await save(shown());
  expect(states()).toEqual({ mail: 'usable', 'mail-base': 'usable' });
  expect(await overlay()).toEqual({ mail: account('home.json') });
});

test("the base's account of two can be switched off, and the switch lasts", async () => {
  await open({ mail: account('work.json') }, { mail: account('home.json') });
  const { 'mail-base': base, ...rest } = shown();
  await save(rest);
  expect(states()).toEqual({ mail: 'usable', 'mail-base': 'disabled' });
  await save(shown());
  expect(states()).toEqual({ mail: 'usable', 'mail-base': 'disabled' });
  await save({ ...rest, 'mail-base': base });
  expect(states()).toEqual({ mail: 'usable', 'mail-base': 'usable' });
});

test('of two accounts both can be left out', async () => {
  await open({ mail: account('work.json') }, { mail: account('home.json') });
  await save({});
  expect(states()).toEqual({ mail: 'disabled' });
});

test("the base's account of two is changed in the base file alone", async () => {
  await open({ mail: account('work.json') }, { mail: account('home.json') });
  const given = { ...shown(), 'mail-base': account('other.json') };
  expect(await faultsOf(given)).toEqual([expect.stringContaining('"mail-base" is "mail" of the base file')]);
});

test('comments and other settings of the overlay stay', async () => {
  await open({}, '{\n  // mine\n  "inputs": [],\n  "servers": { "b": { "command": "b" } } // VS Code\n}\n');
  await save({ b: { command: 'c' }, d: { command: 'd' } });
  const text = await readFile(overlayFile, 'utf8');
  expect(text).toContain('// mine');
  expect(text).toContain('"inputs": []');
  expect(config.servers).toMatchObject([
    { id: 'b', entry: { transport: { command: 'c' } } },
    { id: 'd', entry: { transport: { command: 'd' } } },
  ]);
});

test('an overlay that is not JSON is not written over', async () => {
  await open({}, '{"mcpServers": {');
  expect(await faultsOf({ a: { command: 'a' } })).toContainEqual(expect.stringContaining('not JSON'));
  expect(await readFile(overlayFile, 'utf8')).toBe('{"mcpServers": {');
});

test('saves at one time follow each other: the last one counts, no draft is left, only the owner may read', async () => {
  await open({});
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`s${n}`, { command: 'x' }]));
  // The first takes longest, and must still not come after the others.
  await Promise.all([500, 200, 20, 1].map((count) => save(many(count))));
  expect(await overlay()).toEqual({ s0: { command: 'x' } });
  expect((await readdir(folder)).sort()).toEqual(['servers.json', 'servers_user.json']);
  expect((await stat(overlayFile)).mode & 0o777).toBe(0o600);
});

test('a save is heard once, when it is done', async () => {
  await open({});
  const heard: unknown[] = [];
  config.onChange(() => heard.push(states()));
  await save({ a: { command: 'a' } });
  expect(heard).toEqual([{ a: 'usable' }]);
});

test('a change by hand just before a save is not lost', async () => {
  await open({}, { a: { command: 'a', env: { KEY: 'old' } } });
  await writeFile(overlayFile, JSON.stringify({ mcpServers: { a: { command: 'a', env: { KEY: 'new' } } } }));
  await save({ a: { command: 'a', env: { KEY: M } }, b: { command: 'b' } });
  expect(await overlay()).toEqual({ a: { command: 'a', env: { KEY: 'new' } }, b: { command: 'b' } });
});

test('whoever is no admin saves nothing, whatever road they came by', async () => {
  await open({});
  await expect(
    config.save({ a: { command: 'touch', args: ['x'] } }, { isAdmin: false }),
  ).rejects.toMatchObject({
    code: 'FORBIDDEN',
  });
  expect(shown()).toEqual({});
});
