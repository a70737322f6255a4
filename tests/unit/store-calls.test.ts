import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLog } from '@mcpbridge/orchestrator/log.js';
import type { CallFilter, CallRecord } from '@mcpbridge/orchestrator/store/call-log.js';
import { openSqlite } from '@mcpbridge/orchestrator/store/sqlite.js';
import { openStore, type Store } from '@mcpbridge/orchestrator/store/store.js';
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
const ids = async (filter: Partial<CallFilter> = {}) =>
  (await store.calls.list({ limit: 100, ...filter })).calls.map((found) => found.id);

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
    const found = await store.calls.get(record?.id ?? '');
    expect(found).toEqual({
      ...record,
      seq: expect.any(Number),
      argumentsCut: 0,
      preview: JSON.stringify(record?.arguments),
    });
  });

  test('what a call does not have is absent', async () => {
    const [record] = add({});
    const found = await store.calls.get(record?.id ?? '');
    expect(Object.keys(found ?? {})).not.toEqual(expect.arrayContaining(['client']));
    expect(found).toMatchObject({ argumentBytes: JSON.stringify(record?.arguments).length });
    expect(await store.calls.get('other')).toBeUndefined();
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
      const page = await store.calls.list({ limit: 10, ...(before === undefined ? {} : { before }) });
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
    expect(await store.calls.list({ limit: 2 })).not.toHaveProperty('next');
  });

  test('a cursor that is none is refused', async () => {
    await expect(store.calls.list({ limit: 1, before: 'x' })).rejects.toMatchObject({
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
    expect(await ids({ session: 's1' })).toEqual([d, a]);
    expect(await ids({ server: 'x' })).toEqual([b, a]);
    expect(await ids({ tool: 't' })).toEqual([c, a]);
    expect(await ids({ outcome: 'failed' })).toEqual([d, b]);
    expect(await ids({ outcome: 'ok' })).toEqual([a]);
    expect(await ids({ principal: 'me' })).toEqual([a]);
    expect(await ids({ since: 20, until: 40 })).toEqual([c, b]);
    expect(await ids({ server: 'y', outcome: 'failed', session: 's1' })).toEqual([d]);
    expect(await ids({ session: 's1', server: 'x', outcome: 'failed' })).toEqual([]);
  });

  test('the list shows the beginning of the arguments and never all of them', async () => {
    add({ arguments: { text: '😀'.repeat(500) } });
    const [found] = (await store.calls.list({ limit: 1 })).calls;
    expect(found).not.toHaveProperty('arguments');
    expect([...(found?.preview ?? '')]).toHaveLength(160);
  });

  test('ten thousand calls added at one go are all stored, in order', async () => {
    const records = add(...Array.from({ length: 10_000 }, () => ({})));
    await store.calls.flush();
    expect(store.calls.lost).toBe(0);
    const [newest] = (await store.calls.list({ limit: 1 })).calls;
    expect(newest).toMatchObject({ id: records.at(-1)?.id, seq: 10_000 });
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
    return store.calls.get(record?.id ?? '');
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
    expect(found).toMatchObject({ argumentsCut: Number(cut), argumentBytes: Buffer.byteLength(whole) });
  });

  test('a huge secret under its name is no reason to cut', async () => {
    const found = await stored({ token: 'x'.repeat(100_000), a: 1 });
    expect(found).toMatchObject({ arguments: { token: '[redacted]', a: 1 }, argumentsCut: 0 });
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
    const [found] = (await store.calls.list({ limit: 1 })).calls;
    expect(found?.preview).toContain('not JSON');
    let deep: unknown = 1;
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    expect(JSON.stringify((await stored(deep))?.arguments)).toContain('too deep');
  });

  test('a long error message is cut', async () => {
    const [record] = add({ errorMessage: 'ä'.repeat(5000) });
    expect((await store.calls.get(record?.id ?? ''))?.errorMessage).toBe('ä'.repeat(1024));
  });
});

describe('trouble with the disk', () => {
  test('calls that do not fit in the queue are lost and counted, and adding never throws', () => {
    for (let n = 0; n < 50_010; n += 1) store.calls.add(call());
    expect(store.calls.lost).toBe(10);
  });

  test('huge arguments count towards the queue by their size', () => {
    for (let n = 0; n < 20; n += 1) store.calls.add(call({ argumentBytes: 16 * 1024 * 1024 }));
    expect(store.calls.lost).toBe(12);
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
    expect(await second.calls.get(record.id)).toMatchObject({ id: record.id });
    expect(second.calls.lost).toBe(0);
    await second.close();
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
    for (let n = 0; n < 500; n += 1) {
      store.calls.add(call());
      second.calls.add(call());
      if (n % 100 === 0) await Promise.all([store.calls.flush(), second.calls.flush()]);
    }
    await Promise.all([store.calls.flush(), second.calls.flush()]);
    await second.close();
    expect(await ids({ limit: 2000 })).toHaveLength(1000);
  });
});
