import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { makeCalls } from '../support/call-load.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { EventStream } from '../support/sse-client.js';
import { Trace } from '../support/trace.js';
import { Watcher } from '../support/watcher.js';

let running: RunningOrchestrator;
let trace: Trace;
const watchers: Watcher[] = [];
beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({
    servers: { bare: bareServer, features: featuresServer({ TRACE_FILE: trace.file }) },
  });
});
afterEach(() => {
  for (const watcher of watchers.splice(0)) watcher.close();
});
afterAll(() => running.stop());

const watch = async (query: Record<string, string> = {}) => {
  const watcher = await Watcher.open(running, query);
  watchers.push(watcher);
  return watcher;
};
const call = (path: string, args: object, session = 'watched') =>
  api(running, session).post(`/tools/mcp/${path}`).send(args);

describe('who watches', () => {
  verifies('events.live', async () => {
    const watcher = await watch();
    const started = trace.count('started hang ');
    const answer = call('features/hang', {}).then(({ body }) => body);
    await trace.saw('started hang ', started + 1);
    await eventually('it is seen running', () => watcher.calls.some(({ status }) => status === 'running'));
    const [{ id } = { id: '' }] = watcher.calls;
    const list = (await api(running).get('/api/calls?q=tool:hang')).body;
    expect(list.running).toEqual([expect.objectContaining({ id, status: 'running' })]);
    expect((await api(running).get(`/api/calls/${id}`)).body).toMatchObject({
      status: 'running',
      arguments: {},
    });
    expect((await api(running).post(`/api/calls/${id}/cancel`)).body).toEqual({ id, status: 'cancelling' });
    expect((await answer).error.message).toBe('The call was cancelled by owner.');
    await trace.saw('cancelled ', 1);
    await watcher.sawEnded(1);
    expect(watcher.ended).toEqual([
      expect.objectContaining({ id, status: 'cancelled', code: 'CALL_CANCELLED' }),
    ]);
  });

  test('sees only what fits the filter, and the end of what it saw running whatever that is', async () => {
    const [all, some, live] = [
      await watch(),
      await watch({ q: 'tool:echo arg.text:b*' }),
      await watch({ q: 'status:running' }),
    ];
    for (const text of ['a', 'b1', 'b2']) await call('bare/echo', { text });
    await call('bare/slow', { ms: 200 });
    await all.sawEnded(4);
    await eventually(
      'both ends of the slow one',
      () => live.calls.filter(({ tool }) => tool === 'slow').length === 2,
    );
    expect(some.ended.map(({ args }) => args)).toEqual(['{"text":"b1"}', '{"text":"b2"}']);
  });

  verifies('events.resume', async () => {
    const first = await watch();
    await call('bare/echo', { text: 'before' });
    await first.sawEnded(1);
    first.close();
    const { place } = first;
    for (let n = 0; n < 5; n += 1) await call('bare/echo', { text: `missed ${n}` });
    const second = await watch({ since: String(place) });
    await second.sawEnded(5);
    expect(second.ended.map(({ args }) => args)).toEqual(
      [0, 1, 2, 3, 4].map((n) => `{"text":"missed ${n}"}`),
    );
    await running.stop(true);
    running = await startOrchestrator({ again: running });
    const third = await watch({ since: String(place) });
    await call('bare/echo', { text: 'after the restart' });
    await third.sawEnded(6);
    expect(third.ended.map(({ id }) => id).slice(0, 5)).toEqual(second.ended.map(({ id }) => id));
    const numbers = third.events.map(({ seq }) => seq);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  verifies(
    'events.slow',
    async () => {
      const slow = await watch();
      slow.pause();
      // More than the memory of both ends of a connection and of the house keeps: the rest comes from the store.
      const calls = 25_000;
      await makeCalls({
        running,
        tool: 'bare/echo',
        session: 'slow',
        argsOf: (n) => ({ text: `${n}` }),
        calls,
      });
      slow.resume();
      await slow.sawEnded(calls, 30_000);
      const ids = slow.ended.map(({ id }) => id);
      expect(new Set(ids).size).toBe(calls);
      const numbers = slow.ended.map(({ seq }) => seq);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    },
    60_000,
  );

  test('hears of servers, sessions and what waits for a person', async () => {
    const watcher = await watch();
    const saw = (type: string, part: object) =>
      eventually(`${type} ${JSON.stringify(part)}`, () =>
        watcher.events.some((event) => {
          try {
            expect(event).toMatchObject({ type, ...part });
            return true;
          } catch {
            return false;
          }
        }),
      );
    await api(running)
      .post('/api/sessions')
      .send({ id: 'asks', tools: { approve: ['*echo'] } });
    await saw('session', { session: { id: 'asks', state: 'opened' } });
    const answer = call('bare/echo', { text: 'please' }, 'asks').then(({ body }) => body);
    await saw('proposal', { proposal: { state: 'waiting', session: 'asks', tool: 'echo' } });
    await saw('call', { call: { session: 'asks', status: 'waiting' } });
    const [proposal] = (await api(running).get('/api/proposals')).body.proposals;
    await api(running).post(`/api/proposals/${proposal.id}`).send({ accept: true });
    expect((await answer).result).toBe('please');
    await saw('proposal', { proposal: { id: proposal.id, state: 'accepted', by: 'owner' } });
    await saw('call', { call: { id: proposal.callId, status: 'ok' } });
    expect((await api(running).get(`/api/calls/${proposal.callId}`)).body.timing.waiting).toBeGreaterThan(0);
    await api(running).delete('/api/sessions/asks');
    await saw('session', { session: { id: 'asks', state: 'ended' } });
    await api(running).post('/api/servers/bare/stop');
    await saw('server', { server: { id: 'bare', state: 'stopped' } });
    await api(running).post('/api/servers/bare/start');
    await saw('server', { server: { id: 'bare', state: 'ready' } });
  });

  test('gets a filter that cannot be read back with what is wrong', async () => {
    const { status, body } = await api(running).get('/api/events?q=serve:x%20dur:1s');
    expect(status).toBe(400);
    expect(body.error.details.faults).toEqual([
      { start: 0, end: 7, message: expect.stringContaining('There is no key "serve"') },
      { start: 8, end: 14, message: expect.stringContaining('dur:>1s') },
    ]);
  });
});

describe('a call of the past', () => {
  test('is made once more with other arguments, linked both ways', async () => {
    await call('bare/echo', { text: 'first' }, 'again');
    const [{ id }] = (await api(running).get('/api/calls?q=session:again')).body.calls;
    const same = (await api(running).post(`/api/calls/${id}/replay`)).body;
    const other = (
      await api(running)
        .post(`/api/calls/${id}/replay`)
        .send({ session: 'fresh', arguments: { text: 'second' } })
    ).body;
    expect([same.result, same.session, other.result]).toEqual(['first', 'again', 'second']);
    expect(other.session).not.toBe('again');
    const first = (await api(running).get(`/api/calls/${id}`)).body;
    const replayed = (await api(running).get(`/api/calls/${other.id}`)).body;
    expect([first.replays, replayed.replayOf, replayed.via]).toEqual([[other.id, same.id], id, 'replay']);
    await call('bare/echo', { text: 'x', password: 'hidden-word' }, 'again');
    const [secret] = (await api(running).get('/api/calls?q=session:again')).body.calls;
    const refused = (await api(running).post(`/api/calls/${secret.id}/replay`)).body;
    expect(refused.error.message).toContain('Secrets in the arguments were not kept');
  });

  test('with a result too large for its record has it whole beside it', async () => {
    await call('bare/big', { bytes: 300_000 }, 'large');
    const [{ id }] = (await api(running).get('/api/calls?q=session:large')).body.calls;
    const found = (await api(running).get(`/api/calls/${id}`)).body;
    expect([found.result, found.resultKept]).toEqual([undefined, true]);
    const { body } = await api(running).get(`/api/calls/${id}/result`);
    expect(JSON.stringify(body).length).toBe(found.resultBytes);
  });

  test('is counted, exported and summed by the same filter', async () => {
    for (let n = 0; n < 5; n += 1) await call('bare/echo', { text: `${n}` }, 'summed');
    await call('bare/none', {}, 'summed');
    const q = encodeURIComponent('session:summed -status:cancelled');
    const list = (await api(running).get(`/api/calls?q=${q}&limit=2&counts=status,tool`)).body;
    expect([list.calls.length, list.total, list.counts.status]).toEqual([
      2,
      6,
      [
        { value: 'ok', count: 5 },
        { value: 'refused', count: 1 },
      ],
    ]);
    const lines = (
      await api(running)
        .get(`/api/calls/export?q=${q}`)
        .buffer(true)
        .parse((response, done) => asText(response, done))
    ).body
      .trim()
      .split('\n');
    expect(lines.map((line: string) => JSON.parse(line).arguments.text ?? 'none')).toEqual([
      'none',
      '4',
      '3',
      '2',
      '1',
      '0',
    ]);
    const stats = (await api(running).get(`/api/stats?q=${q}&buckets=4`)).body;
    expect(stats.total).toMatchObject({ calls: 6, ok: 5, refused: 1, errorShare: 1 / 6 });
    expect(stats.groups[0]).toMatchObject({
      server: 'bare',
      tool: 'echo',
      calls: 5,
      argumentBytes: 60,
      resultBytes: 5,
    });
    expect(stats.histogram.reduce((sum: number, { calls }: { calls: number }) => sum + calls, 0)).toBe(6);
  });
});

test('the stream of server-sent events resumes by Last-Event-ID', async () => {
  const { seq } = (await api(running).get('/api/calls?limit=1')).body;
  await call('bare/echo', { text: 'by event' }, 'sse');
  const abort = new AbortController();
  const stream = new EventStream(
    await fetch(`${running.url}/api/events?types=call`, {
      headers: { ...running.headers(), 'last-event-id': String(seq) },
      signal: abort.signal,
    }),
    abort,
  );
  const seen: (string | undefined)[] = [];
  while (!seen.at(-1)?.includes('by event')) seen.push((await stream.next())?.data);
  expect(seen[0]).toContain('"running":[]');
  await stream.cut();
});

function asText(response: NodeJS.EventEmitter, done: (error: Error | null, text: string) => void): void {
  let text = '';
  response.on('data', (chunk) => (text += chunk));
  response.on('end', () => done(null, text));
}
