import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { root, startNode } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { Upstreams } from '../support/upstreams.js';

const FIRST = 'of-no-special-look one';
const SECOND = 'of-no-special-look two';
const uses = (name: string) => `\${secret:${name}}`;
const upstreams = new Upstreams();
let running: RunningOrchestrator;
let servers: Record<string, unknown>;

beforeAll(async () => {
  const { url } = await upstreams.httpServer({ TOKEN: FIRST.replaceAll(' ', '') });
  servers = {
    user: featuresServer({ PLAIN: uses('SERVICE') }),
    other: featuresServer(),
    remote: {
      url: `${url}/mcp`,
      headers: { Authorization: `Bearer ${uses('REMOTE')}` },
    },
    missing: { ...bareServer, args: [...bareServer.args, uses('NOBODY')] },
  };
  running = await startOrchestrator({ servers });
}, 60_000);
afterAll(async () => {
  await running?.stop();
  await upstreams.close();
});

const put = (name: string, value: string) => api(running).post('/api/secrets').send({ name, value });
const call = async (path: string, args: object = {}, session = 'a') =>
  (await api(running, session).post(`/tools/mcp/${path}`).send(args)).body;
const filesOf = (folder: string) =>
  readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

verifies('secrets.use', async () => {
  expect((await call('user/env')).error.message).toContain(
    '"env.PLAIN" of "user" needs the secret "SERVICE", which is not set; set it with POST /api/secrets',
  );
  const pid = (await call('other/pid')).result;
  const added = await put('SERVICE', FIRST);
  expect([added.status, added.body]).toEqual([201, { name: 'SERVICE', servers: ['user'] }]);
  expect(await call('user/env')).toMatchObject({ result: expect.stringContaining(FIRST) });
  const replaced = await put('SERVICE', SECOND);
  expect([replaced.status, replaced.body]).toEqual([200, { name: 'SERVICE', servers: ['user'] }]);
  expect(await call('user/env')).toMatchObject({ result: expect.stringContaining(SECOND) });
  await put('REMOTE', FIRST.replaceAll(' ', ''));
  expect((await call('remote/echo', { text: 'in' })).result).toBe('in');
  // Nobody else is touched.
  expect((await call('other/pid')).result).toBe(pid);
  expect((await call('missing/echo')).error.message).toContain('needs the secret "NOBODY"');
});

verifies('secrets.never-read', async () => {
  const { body } = await api(running).get('/api/secrets');
  expect(body.secrets).toMatchObject([
    { name: 'REMOTE', usable: true, servers: ['remote'] },
    { name: 'SERVICE', usable: true, servers: ['user'] },
  ]);
  const config = (await api(running).get('/api/mcp-config')).body;
  expect(config.mcpServers.user.env.PLAIN).toBe(uses('SERVICE'));
  await call('other/echo', { text: `it was ${FIRST} and is ${SECOND}` });
  const seen = [JSON.stringify(body), JSON.stringify(config), running.output()];
  for (const path of ['/api/calls', '/api/mcp-config/status', '/api/servers/user', '/api/sessions'])
    seen.push(JSON.stringify((await api(running).get(path)).body));
  for (const file of filesOf(running.home)) seen.push(readFileSync(file, 'latin1'));
  for (const text of seen) for (const value of [FIRST, SECOND]) expect(text.includes(value)).toBe(false);
});

describe('a secret', () => {
  test('that cannot be one is refused in a line, which does not repeat it', async () => {
    for (const [name, value] of [
      ['1ST', FIRST],
      ['A B', FIRST],
      ['', FIRST],
      ['SHORT', 'tiny'],
    ] as const) {
      const { status, body } = await put(name, value);
      expect([name, status, body.error.code]).toEqual([name, 400, 'INVALID_REQUEST']);
      expect(body.error.message).not.toContain(value);
    }
    const { body } = await api(running).post('/api/secrets').send({ name: 'X', value: 12345678 });
    expect(body.error.message).toBe('The secret cannot be so: /value: must be string, got number.');
  });

  test('is for the owner: keys that are no admin’s and tokens of sessions get 403', async () => {
    const { body } = await api(running).post('/api/keys').send({ name: 'low' });
    const session = (await api(running).post('/api/sessions').send({})).body;
    for (const token of [body.key, session.token]) {
      for (const method of ['GET', 'POST']) {
        const answer = await fetch(`${running.url}/api/secrets`, {
          method,
          headers: { authorization: `Bearer ${token}` },
        });
        expect(answer.status).toBe(403);
      }
    }
  });

  test('stands sealed in the store, its key in a file of the owner alone', async () => {
    expect(statSync(join(running.home, 'secrets.key')).mode & 0o777).toBe(0o600);
  });

  test('survives a restart', async () => {
    await running.stop(true);
    running = await startOrchestrator({ again: running });
    expect(await call('user/env')).toMatchObject({ result: expect.stringContaining(SECOND) });
  });

  test('that was sealed with another key is named, is no use, and can be set anew', async () => {
    const key = readFileSync(join(running.home, 'secrets.key'));
    await running.stop(true);
    const MCP_SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
    running = await startOrchestrator({ again: running, env: { MCP_SECRETS_KEY } });
    const { error } = await call('user/env');
    expect(error.message).toContain('needs the secret "SERVICE", which was sealed with another key');
    expect((await api(running).get('/api/secrets')).body.secrets[0].usable).toBe(false);
    await put('SERVICE', SECOND);
    expect(await call('user/env')).toMatchObject({ result: expect.stringContaining(SECOND) });
    // The key reaches no child and no configuration.
    expect((await call('user/env')).result).not.toContain(MCP_SECRETS_KEY);
    expect(readFileSync(join(running.home, 'secrets.key'))).toEqual(key);
  });

  test('that is deleted takes the servers that use it out of use', async () => {
    const { body } = await api(running).delete('/api/secrets/SERVICE');
    expect(body).toEqual({ name: 'SERVICE', status: 'deleted', servers: ['user'] });
    expect((await call('user/env')).error.message).toContain('needs the secret "SERVICE", which is not set');
    expect((await api(running).delete('/api/secrets/SERVICE')).status).toBe(404);
  });
});

test('a key that is none ends the start with a line', async () => {
  const child = startNode(`${root}/packages/orchestrator/dist/main.js`, [], { MCP_SECRETS_KEY: 'short' });
  let said = '';
  child.stderr?.on('data', (chunk) => (said += chunk));
  await new Promise((done) => child.once('close', done));
  expect(said.trim()).toBe(
    'MCP_SECRETS_KEY must be 32 bytes in Base64 or hexadecimal; "openssl rand -base64 32" makes one.',
  );
});

test('lock lists the servers that use secrets, too', async () => {
  await put('SERVICE', FIRST);
  await put('NOBODY', FIRST);
  const folder = join(running.home, 'elsewhere');
  const config = join(running.home, 'locked.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { user: servers.user } }));
  await running.stop(true);
  const child = startNode(`${root}/packages/orchestrator/dist/main.js`, ['lock'], {
    MCPBRIDGE_HOME: running.home,
    MCP_CONFIG: config,
    WORKSPACE_DIR: folder,
    MCP_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  let said = '';
  child.stdout?.on('data', (chunk) => (said += chunk));
  child.stderr?.on('data', (chunk) => (said += chunk));
  await new Promise((done) => child.once('close', done));
  expect(said).toContain('mcp.lock was written.');
});
