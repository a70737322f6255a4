import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { featuresServer, startBridge } from '../support/road.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator | undefined;
afterEach(() => running?.stop());

async function start(
  servers: Record<string, unknown>,
  env?: Record<string, string>,
): Promise<RunningOrchestrator> {
  running = await startOrchestrator({ servers, ...(env ? { env } : {}) });
  return running;
}

const placeholder = (name: string) => ['$', '{', name, '}'].join('');
const write = (at: RunningOrchestrator, mcpServers: object) =>
  writeFile(at.configFile, JSON.stringify({ mcpServers }));
const namesOf = async (at: RunningOrchestrator): Promise<string[]> =>
  (await api(at).get('/api/tools')).body.tools.map((tool: { name: string }) => tool.name);

verifies('bad.config', async () => {
  const at = await start({
    bare: bareServer,
    one: { command: 'node', arg: ['typo'] },
    two: { url: 'ftp://example.org' },
    three: { command: 'node', args: [placeholder('NOT_SET_ANYWHERE')] },
  });
  const { body } = await api(at).get('/api/mcp-config/status');
  const faults = Object.fromEntries(
    body.servers.map((server: { id: string; faults?: string[] }) => [server.id, server.faults?.join(' ')]),
  );
  expect(faults.one).toContain('"arg" is not known; did you mean "args"?');
  expect(faults.two).toContain('"url" must be an http or https address');
  expect(faults.three).toContain('NOT_SET_ANYWHERE');
  for (const id of ['one', 'two', 'three']) expect(at.output()).toContain(`"${id}"`);
  const echo = await api(at).post('/tools/mcp/bare/echo').send({ text: 'hello' });
  expect(echo.body.result).toBe('hello');
  const faulty = await api(at).post('/tools/mcp/one/echo').send({});
  expect([faulty.status, faulty.body.error.code]).toEqual([503, 'PROVIDER_UNAVAILABLE']);
  expect(faulty.body.error.message).toContain('did you mean "args"?');
});

verifies('bad.no-command', async () => {
  const at = await start({ bare: bareServer, gone: { command: 'no-such-program-here' } });
  const { status, body } = await api(at).post('/tools/mcp/gone/anything').send({});
  expect([status, body.error.code, body.error.retryable]).toEqual([503, 'PROVIDER_UNAVAILABLE', true]);
  expect(body.error.message).toContain('the command "no-such-program-here" was not found');
  expect((await api(at).post('/tools/mcp/bare/echo').send({ text: 'hello' })).body.result).toBe('hello');
  const server = await api(at).get('/api/servers/gone');
  expect(server.body).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('no-such-program-here'),
  });
});

verifies('config.round-trip', async () => {
  const secret = 'canary-in-the-config';
  const env = { API_KEY: secret, PLACEHOLDER: placeholder('HOME') };
  const at = await start({
    bare: { ...bareServer, env },
    remote: { url: 'http://127.0.0.1:9/mcp', headers: { 'x-key': secret } },
  });
  const shown = await api(at).get('/api/mcp-config');
  expect(shown.text).not.toContain(secret);
  expect(shown.body.mcpServers.bare.env.PLACEHOLDER).toBe(placeholder('HOME'));
  const saved = await api(at).post('/api/mcp-config').send({ config: shown.body });
  expect([saved.status, saved.body]).toEqual([200, { status: 'saved', servers: ['bare', 'remote'] }]);
  expect((await api(at).get('/api/mcp-config')).body).toEqual(shown.body);
  expect(await readFile(at.configFile, 'utf8')).toContain(secret);
  const changed = {
    ...shown.body.mcpServers,
    bare: { ...shown.body.mcpServers.bare, description: 'changed' },
  };
  await api(at)
    .post('/api/mcp-config')
    .send({ config: { mcpServers: changed } });
  const overlay = await readFile(at.configFile.replace('.json', '_user.json'), 'utf8');
  expect(JSON.parse(overlay).mcpServers.bare).toEqual({ ...bareServer, env, description: 'changed' });
  for (const path of [
    '/api/mcp-config',
    '/api/mcp-config/status',
    '/api/servers/bare',
    '/api/servers/remote',
  ]) {
    expect((await api(at).get(path)).text).not.toContain(secret);
  }
  expect(at.output()).not.toContain(secret);
});

test('a configuration with faults is not saved, and every fault is named', async () => {
  const at = await start({ bare: bareServer });
  const mcpServers = { one: { command: '' }, two: { command: 'node', url: 'http://127.0.0.1' } };
  const { status, body } = await api(at).post('/api/mcp-config').send({ config: { mcpServers } });
  expect([status, body.error.code]).toEqual([400, 'CONFIG_INVALID']);
  expect(body.error.details.faults.join(' ')).toMatch(/"one".*"two"/s);
  expect(await namesOf(at)).toContain('bare__echo');
});

test('a configuration can be checked without being saved', async () => {
  const at = await start({ bare: bareServer });
  const check = (mcpServers: object) => api(at).post('/api/mcp-config?check=true').send({ mcpServers });
  const faulty = await check({ bare: bareServer, one: { command: 'node', arg: [] } });
  expect([faulty.status, faulty.body.faults]).toEqual([200, [expect.stringMatching(/^"one": .*"args"/)]]);
  expect((await check({ bare: bareServer, two: bareServer })).body).toEqual({ faults: [] });
  expect(Object.keys((await api(at).get('/api/mcp-config')).body.mcpServers)).toEqual(['bare']);
});

verifies('config.hot-reload', async () => {
  const trace = await Trace.make();
  const features = featuresServer({ TRACE_FILE: trace.file });
  const at = await start({ features });
  const [pid] = trace.pids;
  await write(at, { features, added: bareServer });
  await eventually('the added server is listed', async () => (await namesOf(at)).includes('added__echo'));
  expect(trace.pids).toEqual([pid]);
  await write(at, { added: bareServer });
  await eventually('the removed server is gone', async () => !(await namesOf(at)).includes('features__echo'));
  const { body } = await api(at).post('/tools/mcp/features/echo').send({});
  expect(body.error.code).toBe('UNKNOWN_SERVER');
});

verifies('mcp.list-changed', async () => {
  const at = await start({ bare: bareServer });
  const bridge = startBridge(at);
  await bridge.initialize();
  await bridge.request('tools/list');
  await write(at, { bare: bareServer, added: bareServer });
  await bridge.waitFor((frame) => frame.method === 'notifications/tools/list_changed');
  const { result } = await eventually('the list has the new tools', async () => {
    const answer = await bridge.request('tools/list');
    return answer.result.tools.some((tool: { name: string }) => tool.name === 'added__echo') && answer;
  });
  expect(result.tools.map((tool: { name: string }) => tool.name)).toContain('bare__echo');
  bridge.close();
});

verifies('config.discover', async () => {
  const at = await start({
    bare: bareServer,
    off: { ...bareServer, disabled: true },
    gone: { command: 'no-such-program-here' },
    odd: { command: 'node', arg: [] },
  });
  const started = await api(at).post('/api/mcp-config/discover');
  expect([started.status, started.body.status]).toEqual([202, 'running']);
  const job = await eventually('the discovery is done', async () => {
    const { body } = await api(at).get(`/api/mcp-config/discover/${started.body.job_id}`);
    return body.status === 'done' && body;
  });
  const outcomes = job.servers.map((server: { server: string; outcome: string; tools: number }) => [
    server.server,
    server.outcome,
    server.tools,
  ]);
  expect(outcomes.sort()).toEqual([
    ['bare', 'ok', 3],
    ['gone', 'failed', 0],
    ['odd', 'faulty', 0],
    ['off', 'disabled', 0],
  ]);
});

test('what a server listed in an earlier run is listed at once in the next, while it still starts', async () => {
  const trace = await Trace.make();
  const slow = featuresServer({ TRACE_FILE: trace.file });
  const first = await start({ slow });
  expect(await namesOf(first)).toContain('slow__echo');
  await first.stop(true);
  running = await startOrchestrator({ again: first, early: true });
  expect(await namesOf(running)).toContain('slow__echo');
});

test('two accounts of one service are both listed, the overlay under the id and the base beside it', async () => {
  const account = (file: string) => ({ ...bareServer, oauth: { token_file: file } });
  const at = await start({ mail: account('one.json') });
  const overlay = { mcpServers: { mail: account('two.json') } };
  await writeFile(at.configFile.replace('.json', '_user.json'), JSON.stringify(overlay));
  await eventually('both accounts are listed', async () => (await namesOf(at)).includes('mail-base__echo'));
  expect(await namesOf(at)).toContain('mail__echo');
  const { text, body } = await api(at).get('/api/mcp-config/status');
  expect(body.servers.map((server: { id: string }) => server.id)).toEqual(['mail', 'mail-base']);
  expect(text).not.toContain('one.json');
});
