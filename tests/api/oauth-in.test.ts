import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  auth,
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { verifies } from '../requirements.js';
import { behindLogin } from '../support/behind-login.js';
import { browse, startLoginHouse } from '../support/login-house.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';

const SCOPES = {
  'mcp:tools': { tools: { allow: ['one__echo'] } },
  'groups:more': { tools: { allow: ['two__*'] } },
  'mcp:admin': { admin: true },
};

const page = {
  client_id: 'page',
  token_endpoint_auth_method: 'none',
  redirect_uris: ['https://tools.example/login/oidc/callback'],
};
const here = behindLogin({
  clients: [page],
  start: ({ issuer }) => ({
    servers: { one: bareServer, two: bareServer },
    env: {
      OAUTH_ISSUER: `${issuer},https://other.example`,
      OAUTH_SCOPES: JSON.stringify(SCOPES),
      OAUTH_ADMINS: 'boss@example.com',
      OAUTH_CLAIM: 'groups',
      OAUTH_CLIENT_ID: 'page',
      LOGIN_TIMEOUT: '1s',
    },
  }),
});

let audience = '';
beforeAll(() => {
  audience = `${here.running.url}/mcp`;
});

async function ask(path: string, token: string, init: RequestInit = {}) {
  const response = await fetch(`${here.running.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${token}`, ...init.headers },
  });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

const namesFor = async (token: string): Promise<string[]> => {
  const { body } = await ask('/api/tools', token);
  return body.tools
    .map(({ name }: { name: string }) => name)
    .filter((name: string) => /^(one|two)__/.test(name));
};

verifies('oauth.in-client', async () => {
  // Knows nothing but the address: the challenge leads it to the login service.
  let tokens: ReturnType<OAuthClientProvider['tokens']>;
  let client: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
  let [verifier, address] = ['', ''];
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://127.0.0.1:9/back',
    clientMetadata: { client_name: 'test', redirect_uris: ['http://127.0.0.1:9/back'] },
    clientInformation: () => client,
    saveClientInformation: (given) => void (client = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    redirectToAuthorization: (url) => void (address = url.href),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
  };
  const transport = () => new StreamableHTTPClientTransport(new URL(audience), { authProvider: provider });
  const mcp = () => new Client({ name: 'test', version: '1.0.0' });
  await expect(mcp().connect(transport())).rejects.toThrow(/Unauthorized/i);
  const back = new URL(await browse(address, 'ada'));
  const code = back.searchParams.get('code') ?? '';
  await auth(provider, {
    serverUrl: audience,
    authorizationCode: code,
    iss: back.searchParams.get('iss') ?? '',
  });
  const connected = mcp();
  await connected.connect(transport());
  const { tools } = await connected.listTools();
  expect(tools.map(({ name }) => name).filter((name) => /^(one|two)__/.test(name))).toEqual(['one__echo']);
  const answer = await connected.callTool({ name: 'one__echo', arguments: { text: 'hello' } });
  expect(answer.content).toMatchObject([{ type: 'text', text: 'hello' }]);
  await connected.close();
});

test('who has no token is told who gives one, and for what', async () => {
  const response = await fetch(audience, { method: 'POST', body: '{}' });
  const challenge = response.headers.get('www-authenticate') ?? '';
  expect([response.status, challenge]).toEqual([
    401,
    `Bearer resource_metadata="${here.running.url}/.well-known/oauth-protected-resource/mcp", scope="mcp:tools"`,
  ]);
  const [, place = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  expect(await (await fetch(place)).json()).toMatchObject({
    resource: audience,
    authorization_servers: [here.house.issuer, 'https://other.example'],
    scopes_supported: ['mcp:tools'],
  });
});

describe('a token that is not good is told why', () => {
  const now = () => Math.floor(Date.now() / 1000);
  test.each<[string, () => Record<string, unknown>, RegExp]>([
    ['expired', () => ({ exp: now() - 300 }), /it ended 30\d s ago/],
    ['wrong audience', () => ({ aud: 'https://elsewhere.example/mcp' }), /meant for another address/],
    ['wrong issuer', () => ({ iss: 'https://evil.example' }), /its issuer is not one that is trusted here/],
    [
      'two minutes ahead',
      () => ({ iat: now() + 120, exp: now() + 720 }),
      /issued 1[12]\d s from now: the clocks/,
    ],
    ['not yet good', () => ({ nbf: now() + 120 }), /not good yet: the clocks/],
    ['without an end', () => ({ exp: null }), /not made as tokens are|claim "exp"/],
  ])('%s', async (_, claims, reason) => {
    const token = await here.house.mint({ aud: audience, ...claims() });
    const { status, headers, body } = await ask('/api/tools', token);
    expect([status, body.error.code, headers.get('www-authenticate')]).toEqual([
      401,
      'UNAUTHORIZED',
      expect.stringContaining('Bearer error="invalid_token", resource_metadata='),
    ]);
    expect(body.error.message).toMatch(reason);
  });

  test('two minutes behind, within its life, and half a minute ahead are good', async () => {
    for (const seconds of [-120, 25]) {
      const token = await here.house.mint({ aud: audience, iat: now() + seconds });
      expect((await ask('/api/tools', token)).status).toBe(200);
    }
  });

  test('a foreign signature, no signature, and a changed scope', async () => {
    const foreign = await here.house.mint({ aud: audience }, true);
    const [, payload = '', signature = ''] = (await here.house.mint({ aud: audience })).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const none = `${encode({ alg: 'none' })}.${payload}.`;
    const hmac = `${encode({ alg: 'HS256', kid: 'first' })}.${payload}.${signature}`;
    const changed = `${foreign.split('.')[0]}.${encode({ ...claims, scope: 'mcp:admin' })}.${signature}`;
    for (const token of [foreign, none, hmac, changed]) {
      const { status, body } = await ask('/api/tools', token);
      expect([status, body.error.code]).toEqual([401, 'UNAUTHORIZED']);
    }
  });

  test('a login service that is down or slow is said to be, and is asked again with the next token', async () => {
    const other = await startLoginHouse();
    const fresh = await startOrchestrator({ env: { OAUTH_ISSUER: other.issuer, LOGIN_TIMEOUT: '300ms' } });
    const token = await other.mint({ aud: `${fresh.url}/mcp` });
    const tools = () => fetch(`${fresh.url}/api/tools`, { headers: { authorization: `Bearer ${token}` } });
    await other.set({ down: true });
    const down = await tools();
    expect([down.status, (await down.json()).error]).toEqual([
      503,
      expect.objectContaining({
        code: 'SIGN_IN_UNAVAILABLE',
        message: expect.stringContaining('cannot be asked'),
      }),
    ]);
    await other.set({ down: false, slowMs: 1000 });
    const slow = await tools();
    expect((await slow.json()).error.message).toContain('did not answer in time');
    await other.set({ slowMs: 0 });
    expect((await tools()).status).toBe(200);
    // Once checked it needs nobody.
    await other.set({ down: true });
    expect((await tools()).status).toBe(200);
    await fresh.stop();
    await other.stop();
  }, 60_000);
});

verifies('oauth.in-rights', async () => {
  const few = await here.house.mint({ aud: audience, scope: 'mcp:tools' });
  const more = await here.house.mint({
    aud: audience,
    scope: 'mcp:tools openid',
    groups: ['more', 'unknown'],
  });
  const admin = await here.house.mint({ aud: audience, scope: 'mcp:admin', sub: 'root' });
  const boss = await here.house.mint({ aud: audience, scope: '', sub: 'x', email: 'boss@example.com' });
  expect(await namesFor(few)).toEqual(['one__echo']);
  expect(await namesFor(more)).toEqual(expect.arrayContaining(['one__echo', 'two__echo']));
  expect((await namesFor(more)).filter((name) => name.startsWith('one__'))).toEqual(['one__echo']);
  for (const token of [admin, boss]) expect((await ask('/api/mcp-config', token)).status).toBe(200);
  for (const token of [few, more]) expect((await ask('/api/mcp-config', token)).status).toBe(403);
  const none = await ask('/api/tools', await here.house.mint({ aud: audience, scope: 'openid' }));
  expect([none.status, none.body.error.code, none.headers.get('www-authenticate')]).toEqual([
    403,
    'INSUFFICIENT_SCOPE',
    expect.stringMatching(/error="insufficient_scope".*scope="mcp:tools mcp:admin"/),
  ]);
  const refused = await ask('/api/mcp/execute', few, {
    method: 'POST',
    body: JSON.stringify({ server_name: 'two', tool_name: 'echo', arguments: {} }),
  });
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    403,
    expect.stringContaining('error="insufficient_scope"'),
  ]);
});

test('sessions are those of a person with these rights: another person, and a narrower token, find them missing', async () => {
  const ada = await here.house.mint({ aud: audience, groups: ['more'] });
  const made = await ask('/api/sessions', ada, { method: 'POST', body: '{}' });
  expect(made.status).toBe(201);
  const narrower = await here.house.mint({ aud: audience });
  const eve = await here.house.mint({ aud: audience, groups: ['more'], sub: 'eve' });
  const again = await here.house.mint({
    aud: audience,
    groups: ['more'],
    exp: Math.floor(Date.now() / 1000) + 1200,
  });
  const statuses = await Promise.all(
    [narrower, eve, again].map(async (token) => (await ask(`/api/sessions/${made.body.id}`, token)).status),
  );
  expect(statuses).toEqual([404, 404, 200]);
});

describe('the dashboard', () => {
  test('a person whom the login service knows comes in by a cookie, as what it may do', async () => {
    const { PUBLIC_URL } = { PUBLIC_URL: 'https://tools.example' };
    const public_ = await startOrchestrator({
      env: { OAUTH_ISSUER: here.house.issuer, OAUTH_ADMINS: 'boss', OAUTH_CLIENT_ID: 'page', PUBLIC_URL },
    });
    try {
      expect(await (await fetch(`${public_.url}/api/login/ways`)).json()).toEqual({ oidc: true });
      const boss = await logIn(public_, 'boss');
      const whoBoss = await fetch(`${public_.url}/api/login`, { headers: { cookie: boss.cookie } });
      expect(await whoBoss.json()).toMatchObject({
        principal: expect.stringMatching(/^oauth:boss@/),
        page: true,
      });
      expect(
        (await fetch(`${public_.url}/api/mcp-config`, { headers: { cookie: boss.cookie } })).status,
      ).toBe(200);
      // Known there, and nobody here.
      const eve = await logIn(public_, 'eve');
      expect([eve.location, eve.cookie]).toEqual(['/?login=rights', '']);
      // The answer to one browser is worth nothing in another.
      const stolen = await logIn(public_, 'boss', false);
      expect([stolen.location, stolen.cookie]).toEqual(['/?login=void', '']);
    } finally {
      await public_.stop();
    }
  }, 60_000);
});

async function logIn({ url }: RunningOrchestrator, user: string, bringsCookie = true) {
  const begun = await fetch(`${url}/login/oidc`, { redirect: 'manual' });
  const [own = ''] = begun.headers.getSetCookie()[0]?.split(';') ?? [];
  const back = new URL(await browse(begun.headers.get('location') ?? '', user));
  const end = await fetch(`${url}/login/oidc/callback${back.search}`, {
    redirect: 'manual',
    headers: bringsCookie ? { cookie: own } : {},
  });
  const [cookie = ''] = end.headers.getSetCookie()[0]?.split(';') ?? [];
  return { location: end.headers.get('location'), cookie };
}
