import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { root } from '../support/processes.js';

let running: RunningOrchestrator;
let cookie = '';
beforeAll(async () => {
  running = await startOrchestrator();
});
afterAll(() => running.stop());

const printed = () => /\/login\?code=[\w-]+/.exec(running.output())?.[0] ?? '';
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(running.url + path, { method, headers, redirect: 'manual' });
/** How a WebSocket begins: "open", or the status of the refusal. */
const socket = (headers: Record<string, string>) =>
  new Promise<string | number | undefined>((resolve) => {
    const one = new WebSocket(`${running.url.replace('http', 'ws')}/api/events/ws`, { headers });
    one.on('open', () => {
      one.terminate();
      resolve('open');
    });
    one.on('unexpected-response', (_, response) => resolve(response.statusCode));
    one.on('error', () => {
      // Said by the response.
    });
  });

describe("the owner's browser", () => {
  verifies('page.login', async () => {
    const entered = await get(printed());
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/']);
    const set = entered.headers.get('set-cookie') ?? '';
    expect(set).toMatch(/^mcpbridge_login=\S+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/);
    cookie = set.split(';')[0] ?? '';
    expect(await (await get('/api/login', { cookie })).json()).toEqual({ principal: 'owner', page: true });
    const again = await get(printed());
    expect([again.headers.get('location'), again.headers.get('set-cookie')]).toEqual(['/?login=void', null]);
  });

  verifies('page.foreign-origin', async () => {
    const own = { cookie, origin: running.url };
    const path = '/api/login/links';
    expect((await get(path, own, 'POST')).status).toBe(201);
    // A page of another port of this machine is another site's, though browsers send it the same cookies.
    for (const origin of ['https://evil.example', `http://127.0.0.1:${running.port + 1}`, 'null']) {
      expect((await get(path, { cookie, origin }, 'POST')).status).toBe(403);
      expect((await get('/api/calls', { cookie, origin })).status).toBe(403);
      expect(await socket({ cookie, origin })).toBe(403);
    }
    expect((await get(path, { cookie }, 'POST')).status).toBe(403);
    expect((await get('/api/calls', { cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await get('/tools/mcp/bare/echo', { cookie }, 'POST')).status).toBe(403);
    expect((await get('/tools/mcp/bare/echo', own, 'POST')).status).toBe(200);
    expect(await socket({ cookie })).toBe(403);
    expect(await socket({})).toBe(401);
    expect(await socket(own)).toBe('open');
    expect(await socket(running.headers())).toBe('open');
  });

  test('is let in by the token as well, and out again for good', async () => {
    const wrong = await api(running).post('/api/login').send({ token: 'wrong' });
    expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined]);
    const { headers } = await api(running).post('/api/login').send({ token: running.token });
    const given = String(headers['set-cookie']).split(';')[0] ?? '';
    expect((await get('/api/calls', { cookie: given })).status).toBe(200);
    const out = await get('/api/logout', { cookie: given, origin: running.url }, 'POST');
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await get('/api/calls', { cookie: given })).status).toBe(401);
  });

  test('a cookie that was changed, or whose time is over, is none', async () => {
    const [name, value = ''] = cookie.split('=');
    const later = `${Number.parseInt(value, 10) + 1}${value.slice(13)}`;
    for (const forged of [later, value.slice(0, -1), `1000000000000${value.slice(13)}`, ''])
      expect((await get('/api/calls', { cookie: `${name}=${forged}` })).status).toBe(401);
  });

  test('stays in over a restart', async () => {
    await running.stop(true);
    running = await startOrchestrator({ again: running });
    expect((await get('/api/calls', { cookie })).status).toBe(200);
  });

  test('gets every view from one file, under a policy that runs nothing else', async () => {
    const isBuilt = existsSync(join(root, 'packages/dashboard/dist/index.html'));
    for (const path of [
      '/',
      '/calls/c1',
      '/servers',
      '/sessions/s1',
      '/tools',
      '/approvals',
      '/stats',
      '/settings',
      '/runs/1',
    ]) {
      const view = await get(path);
      expect([path, view.status]).toEqual([path, isBuilt ? 200 : 503]);
      expect(view.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
      expect(view.headers.get('x-content-type-options')).toBe('nosniff');
      if (!isBuilt)
        expect(await view.text()).toBe(
          'The dashboard is not built: run "npm run build" and load this page again.\n',
        );
    }
    expect((await get('/nowhere', running.headers())).status).toBe(404);
  });
});
