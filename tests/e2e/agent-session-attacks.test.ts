import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AgentSession } from '@mcpbridge/agent-session';
import { verifies } from '../requirements.js';
import { openSession } from '../support/agent-sessions.js';

let session: AgentSession;
let base: string;
let token: string;

beforeEach(async () => {
  const greet = (word: string) => ({ name: 'greet', description: 'Greets', handler: () => word });
  session = await openSession({ sessionId: 'mine', tools: [greet('hello')] });
  const other = [greet('salut'), { name: 'theirs', description: 'Not yours', handler: () => 'secret' }];
  await openSession({ sessionId: 'other', tools: other });
  const { MCP_API_URL = '', MCP_API_TOKEN_FILE = '' } = session.bridgeConfig().env;
  base = MCP_API_URL;
  token = await readFile(MCP_API_TOKEN_FILE, 'utf8');
});

interface Attempt {
  path?: string;
  method?: string;
  headers?: Record<string, string | undefined>;
  body?: string | Buffer;
}

/** A request to the letter: fetch would not send a Host of ours. */
async function attempt({
  path = '/tools/custom/greet',
  method = 'POST',
  headers = {},
  body = '{}',
}: Attempt) {
  const all = { authorization: `Bearer ${token}`, ...headers };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const sent = request(base + path, { method, headers: given as Record<string, string>, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

const refused = (status: number, code: string) => ({
  status,
  body: { success: false, error: expect.objectContaining({ code }) },
});

verifies('lean.stranger', async () => {
  const theirs = await attempt({ headers: { 'x-session-id': 'other' } });
  expect(theirs).toMatchObject(refused(404, 'SESSION_NOT_FOUND'));
  const missing = await attempt({ headers: { 'x-session-id': 'nobody' } });
  expect(JSON.stringify(missing).replaceAll('nobody', 'other')).toBe(JSON.stringify(theirs));
  expect(await attempt({ path: '/s/other/tools/custom/greet' })).toEqual(theirs);
  // The path counts, and not a header beside it.
  const both = { path: '/s/other/tools/custom/greet', headers: { 'x-session-id': 'mine' } };
  expect(await attempt(both)).toEqual(theirs);
  expect(await attempt({ path: '/tools/custom/theirs' })).toMatchObject(refused(404, 'UNKNOWN_TOOL'));
});

test('the own session is served by all spellings of its address', async () => {
  const answer = { success: true, result: 'hello', content: [{ type: 'text', text: 'hello' }] };
  for (const path of [
    '/tools/custom/greet',
    '/api/tools/custom/greet',
    '/s/mine/tools/custom/greet',
    '/tools/custom/gr%65et',
  ]) {
    expect(await attempt({ path })).toEqual({ status: 200, body: answer });
  }
  for (const body of ['', 'null', '{}']) expect((await attempt({ body })).body).toEqual(answer);
});

test('a caller that asks for the whole answer gets it alone', async () => {
  const { body } = await attempt({ headers: { accept: 'application/vnd.mcp.result+json' } });
  expect(body).toEqual({ content: [{ type: 'text', text: 'hello' }] });
});

describe('refused is', () => {
  test.each([
    ['no token', undefined],
    ['an empty token', 'Bearer '],
    ['another scheme', 'Basic bWU6bWU='],
    ['a token that is nobody’s', `Bearer ${'A'.repeat(43)}`],
  ])('%s', async (_, authorization) => {
    expect(await attempt({ headers: { authorization } })).toMatchObject(refused(401, 'UNAUTHORIZED'));
  });

  test('the token of a session that was closed', async () => {
    await session.close();
    expect(await attempt({})).toMatchObject(refused(401, 'UNAUTHORIZED'));
  });

  test.each([
    ['another Host', { host: 'evil.example' }],
    ['our address with another port', { host: '127.0.0.1:1' }],
    ['a page, even of this machine', { origin: 'http://127.0.0.1' }],
  ])('%s', async (_, headers) => {
    expect(await attempt({ headers })).toMatchObject(refused(403, 'FORBIDDEN_ORIGIN'));
  });

  test.each([
    ['another path', { path: '/api/tools' }, 404, 'NOT_FOUND'],
    ['a path that climbs', { path: '/tools/custom/../../etc' }, 404, 'NOT_FOUND'],
    ['a broken escape', { path: '/tools/custom/%ff' }, 400, 'INVALID_REQUEST'],
    ['another method', { method: 'PUT' }, 405, 'METHOD_NOT_ALLOWED'],
    ['an own tool as one of another kind', { path: '/tools/virtual/greet' }, 404, 'UNKNOWN_TOOL'],
    ['a name of every object', { path: '/tools/custom/constructor' }, 404, 'UNKNOWN_TOOL'],
    ['a body that is not JSON', { body: '{' }, 400, 'INVALID_REQUEST'],
    ['a body that is a list', { body: '[1]' }, 400, 'INVALID_ARGUMENTS'],
  ])('%s', async (_, what, status, code) => {
    expect(await attempt(what)).toMatchObject(refused(status, code));
  });

  test('a body of 30 MB, and the next call works', async () => {
    const body = Buffer.alloc(30_000_000, ' ');
    expect(await attempt({ body })).toMatchObject(refused(413, 'BODY_TOO_LARGE'));
    expect(await attempt({})).toMatchObject({ status: 200 });
  });

  test('an unknown tool with the nearest names', async () => {
    const { body } = await attempt({ path: '/tools/custom/great' });
    expect(body.error.message).toContain('Nearest: "greet"');
  });
});
