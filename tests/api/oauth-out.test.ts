import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { behindLogin } from '../support/behind-login.js';
import { signIn } from '../support/login-house.js';

describe('signing in at a server', () => {
  const here = behindLogin();
  const { call } = here;

  test('before it, call, state and status say that somebody has to sign in, and how', async () => {
    const refused = await call();
    expect([refused.status, refused.body.error]).toEqual([
      424,
      expect.objectContaining({
        code: 'SIGN_IN_NEEDED',
        retryable: false,
        message: 'Server "guarded" wants to know who you are: sign in.',
        details: expect.objectContaining({
          server: 'guarded',
          sign_in: { method: 'POST', path: '/api/oauth/start', body: { server: 'guarded' } },
        }),
      }),
    ]);
    const state = await api(here.running).get('/api/servers/guarded');
    expect(state.body).toMatchObject({ state: 'failed', reason: expect.stringContaining('sign in') });
    const status = await api(here.running).get('/api/oauth/status?server=guarded');
    expect(status.body).toMatchObject({ server: 'guarded', per: 'server', state: 'needed' });
  });

  verifies('oauth.sign-in', async () => {
    expect(await signIn(here.running, 'guarded', { user: 'ada' })).toContain(
      'You are signed in at &#34;guarded&#34;',
    );
    const answer = await call();
    expect(answer.body).toMatchObject({ success: true });
    expect(JSON.parse(answer.body.result)).toMatchObject({ sub: 'ada', scope: 'mcp:tools' });
    const { token } = await here.house.seen();
    expect(token).toContainEqual(
      expect.objectContaining({ grant: 'authorization_code', resource: here.house.mcp }),
    );
    const status = await api(here.running).get('/api/oauth/status');
    expect(status.body.servers).toEqual([
      expect.objectContaining({ server: 'guarded', state: 'signed_in', issuer: here.house.issuer }),
    ]);
  });

  test('the tokens lie sealed in one file that only this user can read', async () => {
    const folder = join(here.running.home, 'oauth');
    const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
    expect(files).toHaveLength(1);
    const file = join(folder, files[0] ?? '');
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
    expect(await readFile(file, 'utf8')).toMatch(/^eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  test('a tool that needs more rights says so; signing in again gives both, and it is called', async () => {
    const refused = await call({ tool: 'dangerous' });
    expect(refused.body.error).toMatchObject({
      code: 'SIGN_IN_NEEDED',
      message: 'Server "guarded" wants more rights for this ("mcp:admin"): sign in again to give them.',
    });
    await signIn(here.running, 'guarded', { user: 'ada' });
    const answer = await call({ tool: 'dangerous' });
    expect(JSON.parse(answer.body.result)).toMatchObject({ name: 'dangerous', scope: 'mcp:tools mcp:admin' });
  });

  test('an answer is good once, and one that is not ours not at all', async () => {
    const twice = await fetch(`${here.running.url}/api/oauth/callback?code=x&state=unknown`);
    expect([twice.status, await twice.text()]).toEqual([
      400,
      expect.stringContaining('This sign-in is not known here'),
    ]);
  });

  test('after signing out nothing is carried any more', async () => {
    await api(here.running).post('/api/oauth/logout').send({ server: 'guarded' }).expect(200);
    const refused = await call();
    expect(refused.body.error.code).toBe('SIGN_IN_NEEDED');
    const files = await readdir(join(here.running.home, 'oauth'));
    // What the server asked for was noted, no more.
    for (const name of files)
      expect((await stat(join(here.running.home, 'oauth', name))).size).toBeLessThan(600);
  });
});
