import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLog } from '@mcpbridge/orchestrator/log.js';
import type { SessionRow } from '@mcpbridge/orchestrator/store/session-store.js';
import { openStore, type Store } from '@mcpbridge/orchestrator/store/store.js';
import { parseCallFilter } from '@mcpbridge/shared/call-filter.js';

const log = createLog('error');
log.silent = true;
let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-store-'));
  store = await openStore(folder, log);
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

async function reopen(): Promise<void> {
  await store.close();
  store = await openStore(folder, log);
}

const session = (id: string, fields: Partial<SessionRow> = {}): SessionRow => ({
  id,
  owner: 'me',
  createdAt: 100,
  lastUsedAt: 100,
  lifetime: 'lasting',
  ...fields,
});

describe('sessions', () => {
  test('a session is found again whole after a restart', async () => {
    const full = session('a', {
      client: 'cli 1',
      policy: { tools: { deny: ['*'] } },
      lifetime: 'connection',
    });
    await store.sessions.upsert(full);
    await store.sessions.upsert(session('b'));
    await reopen();
    expect(await store.sessions.get('a')).toEqual(full);
    expect(await store.sessions.get('b')).toEqual(session('b'));
    expect(await store.sessions.get('c')).toBeUndefined();
  });

  test('writing it again replaces it, an end included', async () => {
    await store.sessions.upsert(session('a', { client: 'cli 1' }));
    await store.sessions.end('a', 200);
    await store.sessions.upsert(session('a', { lastUsedAt: 300 }));
    expect(await store.sessions.get('a')).toEqual(session('a', { lastUsedAt: 300 }));
  });

  test('a use is seen at once, lasts, and never goes back in time', async () => {
    await store.sessions.upsert(session('a'));
    store.sessions.touch('a', 500);
    store.sessions.touch('a', 400);
    expect(await store.sessions.get('a')).toMatchObject({ lastUsedAt: 500 });
    store.sessions.touch('a', 450);
    store.sessions.touch('nobody', 450);
    await reopen();
    expect(await store.sessions.get('a')).toMatchObject({ lastUsedAt: 500 });
  });

  test('the list has the one used last first, by state and owner, as many as wanted', async () => {
    await store.sessions.upsert(session('a', { lastUsedAt: 1 }));
    await store.sessions.upsert(session('b', { lastUsedAt: 3, owner: 'you' }));
    await store.sessions.upsert(session('c', { lastUsedAt: 2 }));
    await store.sessions.end('c', 9);
    const ids = async (filter: { ended?: boolean; owner?: string; limit?: number } = {}) =>
      (await store.sessions.list({ limit: 10, ...filter })).map((row) => row.id);
    expect(await ids()).toEqual(['b', 'c', 'a']);
    expect(await ids({ ended: false })).toEqual(['b', 'a']);
    expect(await ids({ ended: true })).toEqual(['c']);
    expect(await ids({ owner: 'me' })).toEqual(['c', 'a']);
    expect(await ids({ limit: 1 })).toEqual(['b']);
    expect((await store.sessions.list({ ended: true, limit: 1 }))[0]).toMatchObject({ endedAt: 9 });
  });
});

describe('tool lists', () => {
  const tools = [{ name: 'a', inputSchema: { type: 'object' }, annotations: { x: 1 }, unknown: ['kept'] }];

  test('a list is found under the configuration that gave it, after a restart too', async () => {
    await store.toolLists.put('files', 'hash', tools);
    await reopen();
    expect(await store.toolLists.get('files', 'hash')).toEqual(tools);
    expect(await store.toolLists.get('files', 'other')).toBeUndefined();
    expect(await store.toolLists.get('other', 'hash')).toBeUndefined();
  });

  test('a newer list takes the place of all older ones of that server alone', async () => {
    await store.toolLists.put('files', 'old', tools);
    await store.toolLists.put('mail', 'old', tools);
    await store.toolLists.put('files', 'new', []);
    expect(await store.toolLists.get('files', 'old')).toBeUndefined();
    expect(await store.toolLists.get('files', 'new')).toEqual([]);
    expect(await store.toolLists.get('mail', 'old')).toEqual(tools);
  });
});

test('what is asked at one time never gets into the transaction of another', async () => {
  const record = (id: string) => ({
    ...{ id, startedAt: 1, principal: 'me', sessionId: 's', kind: 'mcp', server: 'x', tool: 't' },
    ...{ arguments: {}, outcome: 'ok' as const, durationMs: 1, resultBytes: 1 },
  });
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      store.calls.add(record(`c${n}`));
      const flushed = store.calls.flush();
      await store.toolLists.put(`server${n}`, 'hash', []);
      await store.sessions.upsert(session(`s${n}`));
      await flushed;
    }),
  );
  expect((await store.calls.queries.list({ limit: 100, filter: parseCallFilter('') })).calls).toHaveLength(
    20,
  );
  expect(await store.sessions.list({ limit: 100 })).toHaveLength(20);
  for (let n = 0; n < 20; n += 1) expect(await store.toolLists.get(`server${n}`, 'hash')).toEqual([]);
});
