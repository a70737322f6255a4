import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { behindLogin } from '../support/behind-login.js';
import { signIn } from '../support/login-house.js';
import { eventually } from '../support/processes.js';

const machine = {
  client_id: 'machine',
  client_secret: 'its-secret',
  redirect_uris: [],
  response_types: [],
  grant_types: ['client_credentials'],
};
const account = (url: string, file: string) => ({ url, oauth: { token_file: `tokens/${file}.json` } });
const here = behindLogin({
  clients: [machine],
  start: ({ mcp: url }) => ({
    servers: {
      mail: account(url, 'office'),
      personal: { url, oauth: { per: 'principal' } },
      shared: { url, isolation: 'shared', oauth: { per: 'principal' } },
      robot: {
        url,
        oauth: {
          grant: 'client_credentials',
          client_id: 'machine',
          client_secret: 'its-secret',
          scope: 'mcp:tools',
        },
      },
    },
  }),
});
const { call, keyOf } = here;

beforeAll(async () => {
  await writeFile(
    join(here.running.home, 'mcp_servers_user.json'),
    JSON.stringify({ mcpServers: { mail: account(here.house.mcp, 'mine') } }),
  );
  await eventually('both accounts are there', async () => {
    const { body } = await api(here.running).get('/api/mcp-config/status');
    return body.servers.some(({ id }: { id: string }) => id === 'mail-base');
  });
}, 60_000);

const subOf = (answer: { body: { result?: string } }) => JSON.parse(answer.body.result ?? '{}').sub;

verifies('oauth.two-accounts', async () => {
  await signIn(here.running, 'mail', { user: 'me' });
  await signIn(here.running, 'mail-base', { user: 'office' });
  expect(subOf(await call({ server: 'mail' }))).toBe('me');
  expect(subOf(await call({ server: 'mail-base' }))).toBe('office');
  const tools = await api(here.running).get('/api/tools');
  const names = tools.body.tools.map(({ name }: { name: string }) => name);
  expect(names).toEqual(expect.arrayContaining(['mail__whoami', 'mail-base__whoami']));
  const status = await api(here.running).get('/api/oauth/status');
  const signedIn = status.body.servers.filter(({ state }: { state: string }) => state === 'signed_in');
  expect(signedIn.map(({ server }: { server: string }) => server)).toEqual(
    expect.arrayContaining(['mail', 'mail-base']),
  );
  // One goes, the other stays.
  await api(here.running).post('/api/oauth/logout').send({ server: 'mail-base' });
  expect((await call({ server: 'mail-base' })).body.error.code).toBe('SIGN_IN_NEEDED');
  expect(subOf(await call({ server: 'mail' }))).toBe('me');
});

verifies('oauth.own-token', async () => {
  const users = await Promise.all(['ada', 'bob'].map(async (name) => ({ name, key: await keyOf(name) })));
  for (const server of ['personal', 'shared'])
    for (const { name, key } of users) {
      expect((await call({ server, authorization: key })).body.error.code).toBe('SIGN_IN_NEEDED');
      await signIn(here.running, server, { user: name, authorization: key });
    }
  const before = (await here.house.seen()).calls.length;
  const calls = Array.from({ length: 50 }, (_, index) =>
    users.flatMap(({ name, key }) =>
      ['personal', 'shared'].map(async (server) => {
        const answer = await call({ server, authorization: key, args: { from: name, index } });
        expect(subOf(answer)).toBe(name);
      }),
    ),
  );
  await Promise.all(calls.flat());
  const seen = (await here.house.seen()).calls.slice(before);
  expect(seen).toHaveLength(200);
  expect(seen.filter(({ sub, args }) => sub !== args.from)).toEqual([]);
  // Who signs out is out, and nobody else.
  await fetch(`${here.running.url}/api/oauth/logout`, {
    method: 'POST',
    headers: { authorization: users[0]?.key ?? '' },
    body: JSON.stringify({ server: 'shared' }),
  });
  expect((await call({ server: 'shared', authorization: users[0]?.key })).body.error.code).toBe(
    'SIGN_IN_NEEDED',
  );
  expect(subOf(await call({ server: 'shared', authorization: users[1]?.key }))).toBe('bob');
});

test('a machine signs in by itself, and asks for more rights by itself where a tool needs them', async () => {
  expect(subOf(await call({ server: 'robot' }))).toBe('machine');
  const answer = await call({ server: 'robot', tool: 'dangerous' });
  expect(JSON.parse(answer.body.result)).toMatchObject({
    name: 'dangerous',
    sub: 'machine',
    scope: 'mcp:tools mcp:admin',
  });
  const begun = await api(here.running).post('/api/oauth/start').send({ server: 'robot' });
  expect(begun.body.error.message).toContain('signed in to by this machine itself');
});
