import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { behindLogin } from '../support/behind-login.js';
import { browse } from '../support/login-house.js';

/** What the attacker's login service says of itself, and what it was sent. */
let metadata: Record<string, unknown> = {};
let posts: string[] = [];
let attacker: Server;
let evil = '';

beforeAll(async () => {
  attacker = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const json = (status: number, body: object, headers = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    if (pathname === '/mcp')
      return json(401, {}, { 'www-authenticate': `Bearer resource_metadata="${evil}/.well-known/x"` });
    if (pathname === '/.well-known/x')
      return json(200, { resource: `${evil}/mcp`, authorization_servers: [evil] });
    if (pathname === '/.well-known/oauth-authorization-server') return json(200, metadata);
    if (request.method === 'POST') posts.push(pathname);
    if (pathname === '/register') return json(201, { client_id: 'me', redirect_uris: [] });
    if (pathname === '/token') return json(200, { access_token: 'of-the-attacker', token_type: 'Bearer' });
    json(404, {});
  }).listen(0, '127.0.0.1');
  await once(attacker, 'listening');
  evil = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}`;
});

const here = behindLogin({
  start: ({ mcp }) => ({
    servers: {
      evil: { url: `${evil}/mcp` },
      bound: {
        url: `${evil}/mcp`,
        oauth: { client_id: 'of-another', client_secret: 's', issuer: 'https://good.example' },
      },
      guarded: { url: mcp },
      personal: { url: mcp, oauth: { per: 'principal' } },
    },
  }),
});
const { call, keyOf } = here;

afterAll(() => {
  attacker?.closeAllConnections();
  attacker?.close();
});

const good = () => ({
  issuer: evil,
  authorization_endpoint: `${evil}/authorize`,
  token_endpoint: `${evil}/token`,
  registration_endpoint: `${evil}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
});

const start = (server: string, headers = {}) =>
  api(here.running).post('/api/oauth/start').set(headers).send({ server });

verifies('oauth.addresses', async () => {
  for (const address of ['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', 'vscode://x']) {
    metadata = { ...good(), authorization_endpoint: address };
    const answer = await start('evil');
    expect([address, answer.status]).not.toEqual([address, 200]);
    expect(answer.body.authorization_url).toBeUndefined();
  }
  metadata = { ...good(), authorization_endpoint: `${evil}/$(calc)` };
  const { body } = await start('evil');
  // It is an address, and nothing else is made of it.
  expect(new URL(body.authorization_url).pathname).toBe('/$(calc)');
});

verifies('oauth.issuer', async () => {
  posts = [];
  metadata = { ...good(), issuer: 'https://good.example' };
  const other = await start('evil');
  expect(other.body.error).toMatchObject({
    code: 'PROVIDER_ERROR',
    message: expect.stringContaining('wrong issuer'),
  });
  expect(posts).toEqual([]);
  metadata = good();
  for (const iss of [undefined, 'https://good.example', `${evil}/`]) {
    posts = [];
    const { body } = await start('evil');
    const answer = new URLSearchParams({ code: 'x', state: body.state, ...(iss ? { iss } : {}) });
    const end = await fetch(`${here.running.url}/api/oauth/callback?${answer}`);
    expect([iss, end.status, posts]).toEqual([iss, 502, expect.not.arrayContaining(['/token'])]);
    expect(await end.text()).not.toContain('good.example');
  }
  // An id of another login service is not sent to this one.
  posts = [];
  expect((await start('bound')).body.error.code).toBe('PROVIDER_ERROR');
  expect(posts).toEqual([]);
});

test('a login service that does not protect codes is not used', async () => {
  for (const methods of [undefined, ['plain']]) {
    metadata = { ...good(), code_challenge_methods_supported: methods };
    const { status, body } = await start('evil');
    expect([status, body.error.code]).toEqual([502, 'PROVIDER_ERROR']);
  }
});

test('one that registers nobody makes it plain that a client id is needed', async () => {
  const { registration_endpoint, ...rest } = good();
  metadata = rest;
  const { body } = await start('evil');
  expect(body.error).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('set "oauth": {"client_id": "…"} in the entry of the server'),
  });
});

verifies('oauth.one-begins-one-ends', async () => {
  const [ada, eve] = await Promise.all(['ada', 'eve'].map(keyOf));
  // What all use is not for a key to sign in to.
  expect((await start('guarded', { authorization: ada })).status).toBe(403);
  // Eve begins, and has Ada's browser end it: it does not become Eve's account.
  const { body } = await start('personal', { authorization: eve });
  const back = await browse(body.authorization_url, 'ada');
  const led = await fetch(back);
  expect([led.status, await led.text()]).toEqual([
    403,
    expect.stringContaining('Whoever began this sign-in has to finish it'),
  ]);
  const byAda = await bring(ada, back);
  expect(byAda.status).toBe(403);
  expect((await bring(eve, back)).status).toBe(200);
  // Once is once.
  expect((await bring(eve, back)).status).toBe(400);
});

function bring(authorization = '', url: string): Promise<Response> {
  return fetch(`${here.running.url}/api/oauth/callback`, {
    method: 'POST',
    headers: { authorization },
    body: JSON.stringify({ url }),
  });
}

test('no token, verifier or secret of a sign-in is in an answer, the log, or the configuration that is shown', async () => {
  const { body } = await start('guarded');
  const end = await fetch(await browse(body.authorization_url, 'ada'));
  expect(end.status).toBe(200);
  expect((await call()).body.success).toBe(true);
  const shown = await Promise.all(
    [
      '/api/oauth/status',
      '/api/mcp-config',
      '/api/mcp-config/status',
      '/api/servers/guarded',
      '/api/calls',
    ].map(async (path) => (await api(here.running).get(path)).text),
  );
  expect([await end.text(), ...shown, here.running.output()].join('\n')).not.toMatch(
    /eyJ[\w-]{10,}\.|refresh_token"/,
  );
});
