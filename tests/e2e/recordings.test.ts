import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually, fixture, root } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { StdioPeer } from '../support/stdio-peer.js';

let running: RunningOrchestrator;
/** What the changing server says. */
let wordFile: string;
beforeAll(async () => {
  wordFile = join(await mkdtemp(join(tmpdir(), 'mcpbridge-word-')), 'word');
  await writeFile(wordFile, '{"word":"old","same":[1,2]}');
  running = await startOrchestrator({
    servers: {
      bare: bareServer,
      features: featuresServer({}),
      word: { command: process.execPath, args: [fixture('word-server.mjs'), wordFile] },
    },
  });
});
afterAll(() => running.stop());

const call = (path: string, args: object, session: string) =>
  api(running, session).post(`/tools/mcp/${path}`).send(args);
interface Frame {
  way: string;
  meanwhile?: true;
  frame: { id?: number; method?: string };
}
const ownFrames = (frames: Frame[]) => frames.filter(({ meanwhile }) => !meanwhile);
const lines = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

verifies('recordings.all', async () => {
  await api(running).post('/api/sessions').send({ id: 'flight' });
  const { name } = (await api(running).post('/api/sessions/flight/recording')).body;
  expect((await api(running).post('/api/sessions/flight/recording')).status).toBe(409);
  await call('bare/echo', { text: 'hello' }, 'flight');
  await call('word/say', {}, 'flight');
  await call('bare/echo', { text: 'x', password: 'canary-in-flight' }, 'flight');
  await call('features/fail', { text: 'no luck' }, 'flight');
  await call('bare/echo', { text: 'of another session' }, 'other');
  const { body: counts } = await api(running).delete('/api/sessions/flight/recording');
  await call('bare/echo', { text: 'after the end' }, 'flight');
  expect(counts).toEqual({ frames: expect.any(Number), calls: 4, status: 'recorded' });

  const file = join(running.home, 'recordings', name);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const text = await readFile(file, 'utf8');
  for (const absent of ['canary-in-flight', 'of another session', 'after the end'])
    expect(text).not.toContain(absent);
  const [head, ...rest] = lines(text);
  expect(head).toMatchObject({ recording: 1, session: 'flight' });
  const frames = rest.filter((line) => 'frame' in line && line.server === 'bare');
  const methods = frames.map(
    ({ way, frame }) => `${way} ${(frame as { method?: string }).method ?? 'answer'}`,
  );
  expect(methods.slice(-4)).toEqual(['to tools/call', 'from answer', 'to tools/call', 'from answer']);
  const times = rest.map(({ at }) => Number(at));
  expect(times).toEqual([...times].sort((a, b) => a - b));

  const kept = (await api(running).get('/api/calls').query({ q: 'session:flight tool:fail' })).body.calls;
  const { body: own } = await api(running).get(`/api/calls/${kept[0].id}/frames`);
  expect(own.recording).toBe(name);
  // Its connection was opened for it: that happened meanwhile.
  expect(own.frames[0]).toMatchObject({ meanwhile: true, frame: { method: 'initialize' } });
  const [request, answer] = ownFrames(own.frames);
  expect([request?.way, request?.frame.method, answer?.way]).toEqual(['to', 'tools/call', 'from']);
  expect(request?.frame.id).toBe(answer?.frame.id);
  const [last] = (await api(running).get('/api/calls').query({ q: 'session:flight', limit: 1 })).body.calls;
  expect((await api(running).get(`/api/calls/${last.id}/frames`)).body).toEqual({ frames: [] });

  await writeFile(wordFile, '{"word":"new","same":[1,2]}');
  const { body } = await api(running).post(`/api/recordings/${name}/replay`);
  expect(
    body.calls.map((one: { name: string; differences: unknown; skipped?: string }) => [
      one.name,
      one.differences,
      one.skipped,
    ]),
  ).toEqual([
    ['bare__echo', [], undefined],
    ['word__say', [{ path: '/result/content/0/text/word', was: 'old', is: 'new' }], undefined],
    ['bare__echo', [], expect.stringContaining('secrets')],
    ['features__fail', [], undefined],
  ]);
  expect(body.differ).toBe(1);

  const standIn = StdioPeer.start(`${root}/packages/orchestrator/dist/main.js`, {}, ['recording', file]);
  await standIn.initialize();
  const listed = (await standIn.request('tools/list')).result.tools.map(
    (tool: { name: string }) => tool.name,
  );
  expect(listed).toEqual(expect.arrayContaining(['bare__echo', 'word__say', 'features__fail']));
  expect((await standIn.callTool('word__say', {})).result.content[0].text).toContain('old');
  expect((await standIn.callTool('features__fail', { text: 'no luck' })).result).toMatchObject({
    isError: true,
    content: [{ text: 'no luck' }],
  });
  expect((await standIn.callTool('bare__echo', { text: 'never' })).result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('It was called with {"text":"hello"}') }],
  });
  standIn.close();
  await eventually('the stand-in leaves with its client', () => standIn.process.exitCode === 0);
});

test('a recording of elsewhere is taken in, opened call by call, and removed; what is none is refused', async () => {
  await api(running).post('/api/sessions').send({ id: 'travels' });
  const { name } = (await api(running).post('/api/sessions/travels/recording')).body;
  const removing = () => api(running).delete(`/api/recordings/${name}`);
  expect((await removing()).status).toBe(409);
  expect((await api(running).get(`/api/recordings/${name}/calls`)).body).toMatchObject({ name, calls: [] });
  await call('features/progress', { steps: 2 }, 'travels');
  await api(running).delete('/api/sessions/travels/recording');
  const text = await (
    await fetch(`${running.url}/api/recordings/${name}`, { headers: running.headers() })
  ).text();
  expect((await removing()).body).toEqual({ name, status: 'removed' });
  const take = (as: string, body: string) =>
    api(running)
      .post('/api/recordings')
      .query({ name: as })
      .set('content-type', 'application/jsonl')
      .send(body);
  const taken = await take('from-afar.jsonl', text);
  expect(taken.status).toBe(201);
  expect(taken.body).toMatchObject({
    name: 'from-afar.jsonl',
    session: 'travels',
    calls: [{ tool: 'progress' }],
  });
  const [{ id }] = taken.body.calls;
  const { body: one } = await api(running).get(`/api/recordings/from-afar.jsonl/calls/${id}`);
  expect(one).toMatchObject({ id, server: 'features', result: expect.anything() });
  expect(ownFrames(one.frames).map(({ way }) => way)).toEqual(['to', 'from']);
  expect((await take('from-afar.jsonl', text)).status).toBe(409);
  for (const [as, body] of [
    ['none.jsonl', '{"a":1}'],
    ['../out.jsonl', text],
  ] as const) {
    const refused = await take(as, body);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(refused.body.error.message).not.toContain(running.home);
  }
  const { recordings } = (await api(running).get('/api/recordings')).body;
  expect(recordings.map((one: { name: string }) => one.name)).not.toContain('none.jsonl');
});

test('a name that is none leads nowhere, and the end of a session ends its recording', async () => {
  for (const name of ['..%2f..%2ftoken', 'none.jsonl', 'token'])
    expect((await api(running).get(`/api/recordings/${name}`)).status).toBe(404);
  await api(running).post('/api/sessions').send({ id: 'ends' });
  const { name } = (await api(running).post('/api/sessions/ends/recording')).body;
  await call('bare/echo', { text: 'last words' }, 'ends');
  await api(running).delete('/api/sessions/ends');
  const file = join(running.home, 'recordings', name);
  await eventually('it is written', async () => (await readFile(file, 'utf8')).includes('last words'));
});
