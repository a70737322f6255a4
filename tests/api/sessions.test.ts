import { basename } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended, eventually, isAlive, root } from '../support/processes.js';
import { featuresServer, startBridge } from '../support/road.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({
    servers: {
      own: featuresServer({ TRACE_FILE: trace.file }),
      common: featuresServer({}, { isolation: 'shared' }),
    },
  });
});
afterAll(() => running.stop());

const count = async (server: string, session: string): Promise<string> =>
  (await api(running, session).post(`/tools/mcp/${server}/counter`).send({})).body.result;

verifies('session.isolated', async () => {
  expect([await count('own', 'a'), await count('own', 'b'), await count('own', 'a')]).toEqual([
    '1',
    '1',
    '2',
  ]);
  expect([await count('common', 'a'), await count('common', 'b'), await count('common', 'a')]).toEqual([
    '1',
    '2',
    '3',
  ]);
});

verifies('session.deleted', async () => {
  const started = trace.count('started hang ');
  const pid = Number((await api(running, 'short').post('/tools/mcp/own/pid').send({})).body.result);
  const call = api(running, 'short').post('/tools/mcp/own/hang').send({});
  const outcome = call.then(({ status, body }) => [status, body.error.code]);
  await trace.saw('started hang ', started + 1);
  const { body } = await api(running).delete('/api/sessions/short');
  expect(body).toEqual({ id: 'short', status: 'ended' });
  expect(await outcome).toEqual([499, 'CALL_CANCELLED']);
  await eventually("the session's process is gone", () => !isAlive(pid));
});

verifies('session.stranger', async () => {
  const ended = await api(running, 'short').post('/tools/mcp/own/pid').send({});
  const missing = await api(running).get('/api/sessions/missing');
  expect([ended.status, missing.status]).toEqual([404, 404]);
  expect(ended.body.error.message.replace('short', 'x')).toBe(
    missing.body.error.message.replace('missing', 'x'),
  );
  const malformed = await api(running, 'no spaces please').post('/tools/mcp/own/pid').send({});
  expect([malformed.status, malformed.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
});

verifies('session.project', async () => {
  const bridge = startBridge(running, { MCP_SESSION_ID: 'at-work', MCP_API_TOKEN: running.token });
  await bridge.initialize();
  await bridge.request('tools/list');
  const { body } = await api(running).get('/api/sessions/at-work');
  expect(body).toMatchObject({ project: basename(root), client: expect.stringMatching(/\S \d/) });
  const { sessions } = (await api(running).get('/api/sessions')).body;
  expect(sessions).toContainEqual(expect.objectContaining({ id: 'at-work', project: basename(root) }));
  await bridge.request('tools/call', { name: 'own__pid', arguments: {} });
  const { calls } = (await api(running).get(`/api/calls?q=project:${basename(root)}`)).body;
  expect(calls).toEqual([expect.objectContaining({ tool: 'pid', project: basename(root) })]);
  bridge.process.kill('SIGKILL');
  await ended(bridge.process);
});
