import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createLog } from '@mcpbridge/orchestrator/log.js';
import type { CallRecord } from '@mcpbridge/orchestrator/store/call-log.js';
import type { CallPageRequest } from '@mcpbridge/orchestrator/store/call-queries.js';
import { openSqlite } from '@mcpbridge/orchestrator/store/sqlite.js';
import { openStore, type Store } from '@mcpbridge/orchestrator/store/store.js';
import { parseCallFilter } from '@mcpbridge/shared/call-filter.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import winston from 'winston';

const log = createLog('error');
log.silent = true;
let folder: string;
let store: Store;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'mcpbridge-store-')), 'home');
  store = await openStore(folder, log);
});
afterEach(async () => {
  await store.close();
  await rm(join(folder, '..'), { recursive: true, force: true });
});

/** Threads and the disk go on as ever. */
const ALL_BUT_THE_CLOCK = [
  ...(['setImmediate', 'clearImmediate', 'setInterval', 'clearInterval'] as const),
  ...(['nextTick', 'queueMicrotask', 'hrtime', 'Date'] as const),
];

let made = 0;
function call(fields: Partial<CallRecord> = {}): CallRecord {
  made += 1;
  return {
    id: timeOrderedId(),
    startedAt: 1_000_000 + made,
    principal: 'owner',
    sessionId: 's1',
    kind: 'mcp',
    server: 'files',
    tool: 'read',
    arguments: { n: made },
    outcome: 'ok',
    durationMs: 1.25,
    resultBytes: 10,
    ...fields,
  };
}
function add(...fields: Partial<CallRecord>[]): CallRecord[] {
  const records = fields.map(call);
  for (const record of records) store.calls.add(record);
  return records;
}
const list = (request: Partial<Omit<CallPageRequest, 'filter'>> = {}, q = '') =>
  store.calls.queries.list({ limit: 100, ...request, filter: parseCallFilter(q) });
const ids = async (q = '', request: Partial<Omit<CallPageRequest, 'filter'>> = {}) =>
  (await list(request, q)).calls.map((found) => found.id);

describe('the record of calls', () => {
  test('a call is found again whole, as soon as it was added', async () => {
    const [record] = add({
      client: 'cli 1.0',
      arguments: { path: 'ä/ö', list: [1, null, { deep: true }] },
      outcome: 'failed',
      errorCode: 'CALL_TIMEOUT',
      errorMessage: 'No answer.',
      argumentBytes: 77,
    });
    const found = await store.calls.queries.get(record?.id ?? '');
    expect(found).toEqual({
      id: record?.id,
      seq: expect.any(Number),
      at: record?.startedAt,
      ms: 1.25,
      status: 'failed',
      code: 'CALL_TIMEOUT',
      layer: 'call',
      error: 'No answer.',
      message: 'No answer.',
      principal: 'owner',
      session: 's1',
      client: 'cli 1.0',
      server: 'files',
      tool: 'read',
      args: JSON.stringify(record?.arguments),
      arguments: record?.arguments,
      in: 77,
      out: 10,
    });
  });

  test('what a call does not have is absent', async () => {
    const [record] = add({});
    const found = await store.calls.queries.get(record?.id ?? '');
    expect(Object.keys(found ?? {})).not.toEqual(expect.arrayContaining(['client']));
    expect(found).toMatchObject({ in: JSON.stringify(record?.arguments).length });
    expect(await store.calls.queries.get('other')).toBeUndefined();
  });

  test('every member of a record comes back, whatever its texts hold', async () => {
    const odd = 'a\tb\nc\u2028="[\\ ☃';
    const [record] = add({
      ...{ principal: odd, sessionId: odd, client: odd, project: odd, kind: 'agent', server: odd, tool: odd },
      ...{ arguments: { [odd]: odd }, outcome: 'failed', errorCode: 'INTERNAL', errorMessage: odd },
      ...{
        durationMs: 12.5,
        argumentBytes: 3,
        resultBytes: 4,
        result: { content: [{ type: 'text', text: odd }] },
      },
      ...{
        parent: 'p',
        via: 'page',
        replayOf: 'r',
        ruleMs: 0.001,
        waitingMs: 1,
        queueMs: 2.5,
        upstreamMs: 3,
      },
      notes: [{ ms: 1, kind: 'progress', params: { message: odd } }],
    });
    const [repeat] = add({ replayOf: record?.id ?? '' });
    const found = await store.calls.queries.get(record?.id ?? '');
    expect(found).toEqual({
      ...{ id: record?.id, seq: expect.any(Number), at: record?.startedAt, ms: 12.5, status: 'failed' },
      ...{ code: 'INTERNAL', layer: 'http', error: odd, message: odd },
      ...{ principal: odd, session: odd, client: odd, project: odd, kind: 'agent', server: odd, tool: odd },
      ...{ args: expect.any(String), arguments: { [odd]: odd }, in: 3, out: 4, result: record?.result },
      ...{ parent: 'p', via: 'page', replayOf: 'r', replays: [repeat?.id] },
      ...{ resultBytes: 59, notes: record?.notes },
      timing: { rule: 0.001, waiting: 1, queue: 2.5, upstream: 3, shape: 5.999 },
    });
  });

  test('calls of more sessions and tools than are remembered at a time each keep their own', async () => {
    const records = add(
      ...Array.from({ length: 5000 }, (_, n) => ({
        sessionId: `s${n % 2500}`,
        tool: `t${n % 7}`,
        ...(n % 3 === 0 ? { client: `c${n}`, outcome: 'refused' as const, errorCode: 'NOT_APPROVED' } : {}),
      })),
    );
    await store.calls.flush();
    for (const { id, sessionId, tool, client, outcome } of records.filter((_, n) => n % 97 === 0)) {
      const found = await store.calls.queries.get(id);
      expect(found).toMatchObject({ session: sessionId, tool, status: outcome });
      expect(found?.client).toBe(client);
    }
  });

  test('calls outlive the process', async () => {
    const [record] = add({});
    await store.close();
    store = await openStore(folder, log);
    expect(await ids()).toEqual([record?.id]);
  });

  test('the list has the newest start first and pages without gap or double', async () => {
    const records = add(...Array.from({ length: 25 }, (_, n) => ({ startedAt: 5000 + (n % 7) })));
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = await list({ limit: 10, before });
      seen.push(...page.calls.map((found) => found.id));
      before = page.next;
    } while (before !== undefined);
    expect(seen).toHaveLength(25);
    expect(new Set(seen)).toEqual(new Set(records.map((record) => record.id)));
    const starts = seen.map((id) => records.find((record) => record.id === id)?.startedAt ?? 0);
    expect(starts).toEqual([...starts].sort((a, b) => b - a));
  });

  test('a page that holds all says that there is no next one', async () => {
    add({}, {});
    expect(await list({ limit: 2 })).not.toHaveProperty('next');
  });

  test('a cursor that is none is refused', async () => {
    await expect(list({ limit: 1, before: 'x' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  test('filters find what they name, alone and together', async () => {
    const [a, b, c, d] = add(
      { startedAt: 10, sessionId: 's1', server: 'x', tool: 't', outcome: 'ok', principal: 'me' },
      { startedAt: 20, sessionId: 's2', server: 'x', tool: 'u', outcome: 'failed' },
      { startedAt: 30, sessionId: 's2', server: 'y', tool: 't', outcome: 'tool_error' },
      { startedAt: 40, sessionId: 's1', server: 'y', tool: 'u', outcome: 'failed' },
    ).map((record) => record.id);
    expect(await ids('session:s1')).toEqual([d, a]);
    expect(await ids('server:x')).toEqual([b, a]);
    expect(await ids('tool:t')).toEqual([c, a]);
    expect(await ids('status:failed')).toEqual([d, c, b]);
    expect(await ids('status:ok')).toEqual([a]);
    expect(await ids('-status:ok')).toEqual([d, c, b]);
    expect(await ids('principal:me')).toEqual([a]);
    expect(await ids('', { since: 20, until: 40 })).toEqual([c, b]);
    expect(await ids('server:y status:failed session:s1')).toEqual([d]);
    expect(await ids('session:s1 server:x status:failed')).toEqual([]);
  });

  test('the list shows the beginning of the arguments and never all of them', async () => {
    add({ arguments: { text: '😀'.repeat(500) } });
    const [found] = (await list({ limit: 1 })).calls;
    expect(found).not.toHaveProperty('arguments');
    expect([...(found?.args ?? '')].length).toBeGreaterThan(20);
    expect(Buffer.byteLength(JSON.stringify(found))).toBeLessThanOrEqual(400);
  });

  test('ten thousand calls added at one go are all stored, in order', async () => {
    const records = add(...Array.from({ length: 10_000 }, () => ({})));
    await store.calls.flush();
    expect(store.calls.lost).toBe(0);
    const [newest] = (await list({ limit: 1 })).calls;
    expect(newest?.id).toBe(records.at(-1)?.id);
  });

  test('calls that come while others are written wait no longer for their turn than any', async () => {
    const pauseMs = 20;
    let heard = () => {};
    store.calls.watcher = { ended() {}, turn: () => heard(), lost() {} };
    add({});
    await store.calls.flush();
    const other = await openSqlite(join(folder, 'store.db'));
    other.run('begin immediate', []);
    jest.useFakeTimers({ doNotFake: ALL_BUT_THE_CLOCK });
    add({});
    jest.advanceTimersByTime(pauseMs);
    expect(store.calls.isBusy).toBe(true);
    add({});
    jest.advanceTimersByTime(pauseMs - 5);
    other.run('commit', []);
    while (store.calls.isBusy) await new Promise<void>((resolve) => (heard = resolve));
    expect(store.calls.waiting).toBe(1);
    jest.advanceTimersByTime(4);
    expect(store.calls.isBusy).toBe(false);
    jest.advanceTimersByTime(1);
    expect(store.calls.isBusy).toBe(true);
    jest.useRealTimers();
    await store.calls.flush();
    expect(await ids()).toHaveLength(3);
    other.close();
  });

  test('a call that is added twice is stored once', async () => {
    const record = call();
    store.calls.add(record);
    store.calls.add(record);
    add({ startedAt: 1 });
    expect(await ids()).toHaveLength(2);
  });
});

describe('arguments as they are stored', () => {
  async function stored(args: unknown) {
    const [record] = add({ arguments: args });
    return store.calls.queries.get(record?.id ?? '');
  }

  test('secrets are redacted by name', async () => {
    const found = await stored({ url: 'u', Api_Key: 'canary', nested: [{ password: 'canary' }] });
    expect(found?.arguments).toEqual({
      url: 'u',
      Api_Key: '[redacted]',
      nested: [{ password: '[redacted]' }],
    });
  });

  test('long ones are cut within 4 KiB at a whole character, and say how much is missing', async () => {
    const text = '€'.repeat(5000);
    const found = await stored({ text });
    const whole = JSON.stringify({ text });
    const [, kept = '', cut] = /^(.*)… \[(\d+) bytes cut\]$/.exec(String(found?.arguments)) ?? [];
    expect(whole.startsWith(kept)).toBe(true);
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(4096);
    expect(Buffer.byteLength(kept)).toBeGreaterThan(4090);
    expect(Buffer.byteLength(kept) + Number(cut)).toBe(Buffer.byteLength(whole));
    expect(found).toMatchObject({ argumentsCut: Number(cut), in: Buffer.byteLength(whole) });
  });

  test('known secrets are blanked in the names that callers make up, from when they are known', async () => {
    const names = { client: 'canary-1 client', server: 'canary-1 server', tool: 'canary-1 tool' };
    const [before] = add(names);
    await store.calls.flush();
    store.scribe.knows(['canary-1']);
    const [after] = add(names);
    expect(await store.calls.queries.get(before?.id ?? '')).toMatchObject(names);
    expect(await store.calls.queries.get(after?.id ?? '')).toMatchObject({
      client: '[redacted] client',
      server: '[redacted] server',
      tool: '[redacted] tool',
    });
  });

  test('a huge secret under its name is no reason to cut', async () => {
    const found = await stored({ token: 'x'.repeat(100_000), a: 1 });
    expect(found).toMatchObject({ arguments: { token: '[redacted]', a: 1 } });
  });

  test.each([
    [undefined, null],
    [null, null],
    ['text', 'text'],
    [[1], [1]],
  ])('%j is stored as %j', async (given, found) => {
    expect((await stored(given))?.arguments).toEqual(found);
  });

  test('what cannot be JSON says so, and its neighbours are stored', async () => {
    add({ arguments: { big: 1n } });
    const [found] = (await list({ limit: 1 })).calls;
    expect(found?.args).toContain('not JSON');
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    expect(JSON.stringify((await stored(deep))?.arguments)).toContain('too deep');
  });

  test('a long error message is cut', async () => {
    const [record] = add({ errorMessage: 'ä'.repeat(5000) });
    expect((await store.calls.queries.get(record?.id ?? ''))?.message).toBe('ä'.repeat(1024));
  });
});

describe('calls of long ago', () => {
  const reopen = async (limits: { ageMs: number; bytes: number }) => {
    await store.close();
    store = await openStore(folder, log, limits);
  };

  test('are taken away when they are too old, with the files of their results', async () => {
    const now = Date.now();
    const large = { content: [{ type: 'text', text: 'x'.repeat(50_000) }] };
    const [old, young] = add(
      { startedAt: now - 10_000, result: large, resultBytes: 50_000 },
      { startedAt: now, result: large, resultBytes: 50_000 },
    ).map(({ id }) => id) as [string, string];
    await ids();
    await reopen({ ageMs: 5000, bytes: 0 });
    await store.retention.sweep();
    expect(await ids()).toEqual([young]);
    expect(await store.results.open(old)).toBeUndefined();
    const kept = await store.results.open(young);
    expect(kept).toBeDefined();
    kept?.destroy();
  });

  test('take the agent’s conversations of their time with them, but for those that still have something to do', async () => {
    const { conversations } = store;
    const keep = async (id: string, updatedAt: number, state: 'done' | 'waiting') => {
      const about = { sessionId: 's1', owner: 'owner', title: id, createdAt: updatedAt, updatedAt };
      await conversations.saveConversation({ id, ...about });
      const run = {
        id: `${id}-run`,
        conversationId: id,
        state,
        message: id,
        brains: [],
        strategy: 'react',
      } as const;
      const rest = {
        because: '',
        agentSession: 's1',
        limits: { iterations: 1, time: 1 },
        startedAt: updatedAt,
      };
      const usage = { inputTokens: 0, outputTokens: 0 };
      await conversations.saveRun({ ...run, ...rest, brains: [], usage });
      await conversations.append(id, `${id}-run`, { kind: 'user', text: id });
    };
    const now = Date.now();
    await keep('old', now - 10_000, 'done');
    await keep('waits', now - 10_000, 'waiting');
    await keep('young', now, 'done');
    await reopen({ ageMs: 5000, bytes: 0 });
    await store.retention.sweep();
    const left = await store.conversations.conversations({ limit: 10 });
    expect(left.map(({ id }) => id)).toEqual(['young', 'waits']);
    expect(await store.conversations.run('old-run')).toBeUndefined();
    expect(await store.conversations.entries({ runId: 'old-run' })).toEqual([]);
    expect(await store.conversations.entries({ runId: 'waits-run' })).toHaveLength(1);
  });

  test('go before younger ones when all take too much room', async () => {
    const records = add(...Array.from({ length: 6000 }, () => ({ arguments: { text: 'y'.repeat(1000) } })));
    await store.calls.flush();
    const all = await store.retention.used();
    await reopen({ ageMs: 0, bytes: all / 2 });
    await store.retention.sweep();
    expect(await store.retention.used()).toBeLessThanOrEqual(all / 2);
    const [newest] = await ids('', { limit: 1 });
    expect(newest).toBe(records.at(-1)?.id);
    expect(await store.calls.queries.get(records[0]?.id ?? '')).toBeUndefined();
  });
});

describe('trouble with the disk', () => {
  test('calls that do not fit in the queue are lost and counted, and adding never throws', () => {
    for (let n = 0; n < 50_010; n += 1) store.calls.add(call());
    expect(store.calls.lost).toBe(10);
  });

  test('huge arguments count towards the queue by their size', () => {
    for (let n = 0; n < 20; n += 1) store.calls.add(call({ argumentBytes: 16 * 1024 * 1024 }));
    expect(store.calls.lost).toBe(13);
  });

  test('records that the store refuses wait and are stored later; that is said once and reaches no call', async () => {
    const lines: string[] = [];
    const stream = new Writable({ write: (chunk, _, done) => done(void lines.push(String(chunk))) });
    const second = await openStore(
      folder,
      createLog('error').clear().add(new winston.transports.Stream({ stream })),
    );
    const meddler = await openSqlite(join(folder, 'store.db'));
    meddler.run('alter table calls rename to away', []);
    const record = call();
    second.calls.add(record);
    await second.calls.flush();
    await second.calls.flush();
    expect(lines).toEqual([expect.stringContaining('no such table')]);
    meddler.run('alter table away rename to calls', []);
    meddler.close();
    expect(await second.calls.queries.get(record.id)).toMatchObject({ id: record.id });
    expect(second.calls.lost).toBe(0);
    await second.close();
  });

  test('records that find no place for half a minute are given up, counted, and told to who watches', async () => {
    let told = 0;
    store.calls.watcher = { ended() {}, turn() {}, lost: () => (told += 1) };
    const meddler = await openSqlite(join(folder, 'store.db'));
    meddler.run('alter table calls rename to away', []);
    add({}, {});
    await store.calls.flush();
    expect([store.calls.lost, store.calls.waiting, told]).toEqual([0, 2, 1]);
    jest.useFakeTimers({
      now: Date.now() + 31_000,
      doNotFake: [
        'setTimeout',
        'setImmediate',
        'clearTimeout',
        'performance',
        'nextTick',
        'queueMicrotask',
        'setInterval',
        'clearInterval',
        'clearImmediate',
        'hrtime',
      ],
    });
    await store.calls.flush();
    jest.useRealTimers();
    expect([store.calls.lost, store.calls.waiting, told]).toEqual([2, 0, 3]);
    meddler.run('alter table away rename to calls', []);
    meddler.close();
  });

  test('after the store was closed, calls are only counted as lost', async () => {
    await store.close();
    store.calls.add(call());
    expect(store.calls.lost).toBe(1);
    store = await openStore(folder, log);
  });

  test('only the owner can read the store', async () => {
    add({});
    await store.calls.flush();
    const mode = async (path: string) => (await stat(path)).mode & 0o777;
    expect(await mode(folder)).toBe(0o700);
    for (const end of ['', '-wal', '-shm']) expect(await mode(join(folder, `store.db${end}`))).toBe(0o600);
  });

  test('a file that is no store is refused with the way out, and left as it is', async () => {
    const other = join(folder, 'other');
    await openStore(other, log).then((made) => made.close());
    await writeFile(join(other, 'store.db'), 'not a database, but long enough to look like one'.repeat(50));
    await expect(openStore(other, log)).rejects.toThrow(
      /store\.db" cannot be used: .*not a database.*Move the file away/,
    );
  });

  test('two stores on one file at once both write', async () => {
    const second = await openStore(folder, log);
    // Two processes that came to the same numbers.
    second.calls.numbers.latest = store.calls.numbers.latest;
    for (let n = 0; n < 500; n += 1) {
      store.calls.add(call());
      second.calls.add(call());
      if (n % 100 === 0) await Promise.all([store.calls.flush(), second.calls.flush()]);
    }
    await Promise.all([store.calls.flush(), second.calls.flush()]);
    await second.close();
    expect(await ids('', { limit: 2000 })).toHaveLength(1000);
  });
});
