import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Sealer } from '@mcpbridge/orchestrator/vault/sealer.js';
import { sealingKey } from '@mcpbridge/orchestrator/vault/sealing-key.js';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { behindLogin } from '../support/behind-login.js';
import { signIn } from '../support/login-house.js';
import { startOrchestrator } from '../support/orchestrator.js';
import { ended, eventually, fixture, startNode } from '../support/processes.js';

const here = behindLogin();
const { call } = here;

async function tokenFile(): Promise<string> {
  const folder = join(here.running.home, 'oauth');
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.json'));
  return join(folder, name);
}

/** As it is an hour later. */
async function age(file: string): Promise<void> {
  const sealer = new Sealer(sealingKey({ home: here.running.home, secretsKey: undefined }));
  const what = `tokens of ${here.house.mcp}`;
  const record = JSON.parse(await sealer.unseal(what, await readFile(file, 'utf8')));
  record.tokens.obtained_at -= 3_600_000;
  await writeFile(file, await sealer.seal(what, JSON.stringify(record)));
}

async function refreshes(): Promise<number> {
  const { token } = await here.house.seen();
  return token.filter(({ grant, outcome }) => grant === 'refresh_token' && outcome === 'granted').length;
}

/** The server takes the token no more, whatever it says of itself: the next call has to renew it. */
const CLOCK_AHEAD = { clockMs: 2 * 3_600_000 };

describe('renewing', () => {
  beforeEach(async () => {
    await here.house.set({ slowMs: 0, down: false, clockMs: 0, audience: null, revoked: [] });
    await signIn(here.running, 'guarded', { user: 'ada' });
    expect((await call()).body.success).toBe(true);
  });

  verifies(
    'oauth.one-renewal',
    async () => {
      const file = await tokenFile();
      await age(file);
      const before = await refreshes();
      const users = await Promise.all(Array.from({ length: 20 }, () => startUser(file)));
      const tokens = await Promise.all(users.map(({ ask }) => ask()));
      expect(new Set(tokens).size).toBe(1);
      expect(tokens[0]).toMatch(/^eyJ/);
      expect((await refreshes()) - before).toBe(1);
      await Promise.all(users.map(({ end }) => end()));
      // And the orchestrator goes on with what they stored.
      expect((await call()).body.success).toBe(true);
      expect((await refreshes()) - before).toBe(1);
    },
    60_000,
  );

  test('a token that the server takes no more is renewed in mid-session, and the client notices nothing', async () => {
    const before = await refreshes();
    await here.house.refuseLatest();
    const answers = await Promise.all([call(), call(), call()]);
    expect(answers.map(({ body }) => body.success)).toEqual([true, true, true]);
    expect((await refreshes()) - before).toBe(1);
  });

  test('a token that ended while nobody looked is renewed before it is shown', async () => {
    const [before, refused] = [await refreshes(), (await here.house.seen()).refused.length];
    await age(await tokenFile());
    const again = await startOrchestrator({ again: here.running, env: { PORT: '0' } });
    const answer = await call({ at: again });
    await again.stop(true);
    expect(answer.body.success).toBe(true);
    expect((await refreshes()) - before).toBe(1);
    expect((await here.house.seen()).refused).toHaveLength(refused);
  }, 60_000);

  verifies('oauth.taken-back', async () => {
    await here.house.forgetGrants();
    await here.house.set({ revoked: ['ada'] });
    const refused = await call();
    expect(refused.body.error).toMatchObject({
      code: 'SIGN_IN_NEEDED',
      message:
        'Server "guarded": its login service no longer accepts our sign-in (invalid_grant): sign in again.',
    });
    const state = await api(here.running).get('/api/servers/guarded');
    expect(state.body).toMatchObject({ state: 'failed', reason: refused.body.error.message });
    const list = await api(here.running).get('/api/mcp-config/status');
    expect(list.body.servers[0]).toMatchObject({
      id: 'guarded',
      state: 'failed',
      sign_in: { state: 'needed' },
    });
    await here.house.set({ revoked: [] });
    await signIn(here.running, 'guarded', { user: 'ada' });
    expect((await call()).body.success).toBe(true);
    const healthy = await api(here.running).get('/api/mcp-config/status');
    expect(healthy.body.servers[0]).toMatchObject({ state: 'ready', sign_in: { state: 'signed_in' } });
  });

  test('a server whose clock is ahead takes no token, new ones too: the clocks are named', async () => {
    await here.house.set(CLOCK_AHEAD);
    const refused = await call();
    expect(refused.body.error).toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      retryable: false,
      message: expect.stringContaining('the clocks of both differ'),
    });
  });

  test('two minutes are less than a token lives, and disturb nobody', async () => {
    await here.house.set({ clockMs: 120_000 });
    expect((await call()).body.success).toBe(true);
  });

  test('tokens for another address: the audience is named', async () => {
    await here.house.set({ audience: 'https://elsewhere.example/mcp', revoked: ['ada'] });
    const refused = await call();
    expect(refused.body.error.message).toContain('the token may be meant for another address');
  });

  test('a login service that is another one gets nothing', async () => {
    const before = (await here.house.seen()).token.length;
    await here.house.set({ revoked: ['ada'], elsewhere: `${here.house.issuer}/other` });
    const refused = await call();
    await here.house.set({ elsewhere: null });
    expect([refused.body.error.code, (await here.house.seen()).token.length]).toEqual([
      'SIGN_IN_NEEDED',
      before,
    ]);
    expect(refused.body.error.message).toContain('another login service');
  });

  test('a login service that is down is named; the call may be made again, and works when it is back', async () => {
    await here.house.refuseLatest();
    await here.house.set({ down: true });
    const refused = await call();
    expect([refused.status, refused.body.error]).toEqual([
      503,
      expect.objectContaining({
        code: 'SIGN_IN_UNAVAILABLE',
        retryable: true,
        message: expect.stringContaining(
          `The login service of server "guarded" at ${here.house.issuer} cannot be reached`,
        ),
      }),
    ]);
    const status = await api(here.running).get('/api/oauth/status?server=guarded');
    expect(status.body.state).toBe('unavailable');
    await here.house.set({ revoked: [], down: false });
    await eventually('it works again', async () => (await call()).body.success);
  });

  test('a login service that does not answer is given up after its time', async () => {
    await here.house.set({ revoked: ['ada'], slowMs: 5000 });
    const slow = await startOrchestrator({ again: here.running, env: { PORT: '0', LOGIN_TIMEOUT: '500ms' } });
    const refused = await call({ at: slow });
    await slow.stop(true);
    expect(refused.body.error).toMatchObject({
      code: 'SIGN_IN_UNAVAILABLE',
      message: expect.stringContaining('did not answer within 0.5 s'),
    });
  }, 60_000);
});

/** Another process that uses the same account. */
async function startUser(file: string) {
  const child = startNode(fixture('token-user.mjs'), [file, here.house.mcp, here.running.home]);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  await once(lines, 'line');
  return { ask: () => ask(child, lines), end: () => end(child) };
}

async function ask(child: ChildProcess, lines: Interface): Promise<string> {
  child.stdin?.write('go\n');
  const [line] = await once(lines, 'line');
  return line;
}

async function end(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  await ended(child);
}
