import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type LoginHouse, signIn, startLoginHouse } from '../support/login-house.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';

let house: LoginHouse;
let running: RunningOrchestrator;

beforeAll(async () => {
  const machine = {
    client_id: 'machine',
    client_secret: 'its-secret',
    redirect_uris: [],
    response_types: [],
    grant_types: ['client_credentials'],
  };
  house = await startLoginHouse({ CLIENTS: JSON.stringify([machine]) });
  const account = (file: string) => ({ url: house.mcp, oauth: { token_file: `tokens/${file}.json` } });
  running = await startOrchestrator({
    servers: {
      mail: account('office'),
      personal: { url: house.mcp, oauth: { per: 'principal' } },
      shared: { url: house.mcp, isolation: 'shared', oauth: { per: 'principal' } },
      robot: {
        url: house.mcp,
        oauth: {
          grant: 'client_credentials',
          client_id: 'machine',
          client_secret: 'its-secret',
          scope: 'mcp:tools',
        },
      },
    },
  });
  await writeFile(
    join(running.home, 'mcp_servers_user.json'),
    JSON.stringify({ mcpServers: { mail: account('mine') } }),
  );
  await eventually('both accounts are there', async () => {
    const { body } = await api(running).get('/api/mcp-config/status');
    return body.servers.some(({ id }: { id: string }) => id === 'mail-base');
  });
}, 60_000);

afterAll(async () => {
  await running?.stop();
  await house?.stop();
});

const execute = (server: string, authorization?: string, args = {}, tool = 'whoami') =>
  api(running)
    .post('/api/mcp/execute')
    .set(authorization ? { authorization } : {})
    .send({ server_name: server, tool_name: tool, arguments: args });

const subOf = (answer: { body: { result?: string } }) => JSON.parse(answer.body.result ?? '{}').sub;

verifies('oauth.two-accounts', async () => {
  await signIn(running, 'mail', { user: 'me' });
  await signIn(running, 'mail-base', { user: 'office' });
  expect(subOf(await execute('mail'))).toBe('me');
  expect(subOf(await execute('mail-base'))).toBe('office');
  const tools = await api(running).get('/api/tools');
  const names = tools.body.tools.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(['mail__whoami', 'mail-base__whoami']));
  const status = await api(running).get('/api/oauth/status');
  const signedIn = status.body.servers.filter(({ state }: { state: string }) => state === 'signed_in');
  expect(signedIn.map(({ server }: { server: string }) => server)).toEqual(
    expect.arrayContaining(['mail', 'mail-base']),
  );
  // One goes, the other stays.
  await api(running).post('/api/oauth/logout').send({ server: 'mail-base' });
  expect((await execute('mail-base')).body.error.code).toBe('SIGN_IN_NEEDED');
  expect(subOf(await execute('mail'))).toBe('me');
});

verifies('oauth.own-token', async () => {
  const users = await Promise.all(['ada', 'bob'].map(async (name) => ({ name, key: await keyOf(name) })));
  for (const server of ['personal', 'shared'])
    for (const { name, key } of users) {
      expect((await execute(server, key)).body.error.code).toBe('SIGN_IN_NEEDED');
      await signIn(running, server, { user: name, authorization: key });
    }
  const before = (await house.seen()).calls.length;
  const calls = Array.from({ length: 50 }, (_, index) =>
    users.flatMap(({ name, key }) =>
      ['personal', 'shared'].map(async (server) => {
        const answer = await execute(server, key, { from: name, index });
        expect(subOf(answer)).toBe(name);
      }),
    ),
  );
  await Promise.all(calls.flat());
  const seen = (await house.seen()).calls.slice(before);
  expect(seen).toHaveLength(200);
  expect(seen.filter(({ sub, args }) => sub !== args.from)).toEqual([]);
  // Who signs out is out, and nobody else.
  await fetch(`${running.url}/api/oauth/logout`, {
    method: 'POST',
    headers: { authorization: users[0]?.key ?? '' },
    body: JSON.stringify({ server: 'shared' }),
  });
  expect((await execute('shared', users[0]?.key)).body.error.code).toBe('SIGN_IN_NEEDED');
  expect(subOf(await execute('shared', users[1]?.key))).toBe('bob');
});

test('a machine signs in by itself, and asks for more rights by itself where a tool needs them', async () => {
  expect(subOf(await execute('robot'))).toBe('machine');
  const answer = await execute('robot', undefined, {}, 'dangerous');
  expect(JSON.parse(answer.body.result)).toMatchObject({
    name: 'dangerous',
    sub: 'machine',
    scope: 'mcp:tools mcp:admin',
  });
  const begun = await api(running).post('/api/oauth/start').send({ server: 'robot' });
  expect(begun.body.error.message).toContain('signed in to by this machine itself');
});

async function keyOf(name: string): Promise<string> {
  const { body } = await api(running).post('/api/keys').send({ name });
  return `Bearer ${body.key}`;
}
