import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api, postMcp } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { eventually } from '../support/processes.js';
import { featuresServer } from '../support/road.js';
import { SseClient } from '../support/sse-client.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
beforeAll(async () => {
  trace = await Trace.make();
  const one = featuresServer({ TRACE_FILE: trace.file });
  const dead = { command: 'no-such-program' };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the configuration
  const unset = { command: 'node', args: ['${NOT_SET_ANYWHERE}'] };
  running = await startOrchestrator({ servers: { bare: bareServer, one, dead, unset } });
});
afterAll(() => running.stop());

const open = async (policy: object) => (await api(running).post('/api/sessions').send(policy)).body;

async function listed(token: string): Promise<string[]> {
  const auth = { authorization: `Bearer ${token}` };
  const params = { protocolVersion: '2025-11-25', capabilities: {} };
  const { headers } = await postMcp(running, { id: 0, method: 'initialize', params }, auth);
  const session = { ...auth, 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
  const { messages } = await postMcp(running, { id: 1, method: 'tools/list' }, session);
  return (messages[0] as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
}

async function call(token: string, tool: string, args: object) {
  const response = await fetch(`${running.url}/api/tools/virtual/${tool}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(args),
  });
  return response.json() as Promise<{ result: string; error?: { code: string; message: string } }>;
}

verifies('catalog.search-mode', async () => {
  const { token } = await open({ catalog: 'search', tools: { deny: ['one__crash*'] } });
  expect(await listed(token)).toEqual(['call_tool', 'describe_tool', 'search_tools']);

  const found = (await call(token, 'search_tools', { query: 'say some text again' })).result.split('\n');
  expect(found[0]).toBe('bare__echo(text?): Says the text again');
  expect((await call(token, 'search_tools', { query: 'crash' })).result).not.toContain('one__crash');
  expect((await call(token, 'search_tools', { query: 'zzzz' })).result).toContain('No tool fits "zzzz"');

  const described = JSON.parse((await call(token, 'describe_tool', { name: 'bare__echo' })).result);
  expect(described).toMatchObject({ name: 'bare__echo', inputSchema: { properties: { text: {} } } });

  expect((await call(token, 'call_tool', { name: 'bare__echo', arguments: { text: 'hi' } })).result).toBe(
    'hi',
  );
  const refused = await call(token, 'call_tool', { name: 'one__crash' });
  expect(refused.error?.code).toBe('TOOL_NOT_ALLOWED');
  const badly = await call(token, 'call_tool', { name: 'bare__echo', arguments: { text: 1 } });
  expect(badly.error?.code).toBe('INVALID_ARGUMENTS');
  expect((await call(token, 'call_tool', { name: 'call_tool' })).error?.code).toBe('UNKNOWN_TOOL');
});

const specOf = (token: string, args: object) => call(token, 'get_api_spec', args);

test('get_api_spec takes one name, several, and a list in a string, and tells what is wrong with a name', async () => {
  const { token } = await open({});
  const addresses = async (tool_name: unknown) =>
    [...(await specOf(token, { tool_name })).result.matchAll(/^POST (.+)$/gm)].map(([, address]) => address);
  expect(await addresses('bare__echo')).toEqual(['$MCP_MCP/bare/echo']);
  const both = ['$MCP_MCP/bare/echo', '$MCP_CUSTOM/execute_shell_command'];
  expect(await addresses(['bare__echo', 'execute_shell_command'])).toEqual(both);
  expect(await addresses('["bare__echo", "execute_shell_command"]')).toEqual(both);

  const said = async (name: string) => (await specOf(token, { tool_name: name })).error;
  expect(await said('bare__ecko')).toMatchObject({
    code: 'UNKNOWN_TOOL',
    message: expect.stringContaining('Nearest: "bare__echo"'),
  });
  expect(await said('dead__list')).toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
    message: expect.stringContaining('"no-such-program" was not found'),
  });
  expect(await said('unset__list')).toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
    message: expect.stringContaining('"NOT_SET_ANYWHERE"'),
  });
  expect(await said('one__broken')).toMatchObject({ message: expect.stringContaining('is set aside') });
});

test('a call by a listed name of a server that is down says so, and not that there is no such tool', async () => {
  const { token } = await open({ catalog: 'search' });
  const inner = await call(token, 'call_tool', { name: 'dead__list' });
  expect(inner.error).toMatchObject({
    code: 'PROVIDER_UNAVAILABLE',
    message: expect.stringContaining('Server "dead"'),
  });
});

test('get_api_spec tells the same as an OpenAPI document, with the whole schemas', async () => {
  const { token } = await open({});
  const names = ['bare__echo', 'search_tools', 'execute_shell_command'];
  const { result } = await specOf(token, { tool_name: names, format: 'openapi' });
  const document = JSON.parse(result);
  expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: '$MCP_API_URL' }] });
  expect(Object.keys(document.paths)).toEqual([
    '/tools/mcp/bare/echo',
    '/tools/virtual/search_tools',
    '/tools/custom/execute_shell_command',
  ]);
  const { operationId, requestBody } = document.paths['/tools/mcp/bare/echo'].post;
  const { inputSchema } = (await api(running).get('/api/tools/bare__echo')).body;
  expect([operationId, requestBody.content['application/json'].schema]).toEqual(['bare__echo', inputSchema]);
});

test('a call within a call is recorded as a call of its own, and passes progress on', async () => {
  const { id, token } = await open({ catalog: 'search' });
  const client = await SseClient.initialize(running, {}, '2025-11-25', token);
  const params = { name: 'call_tool', arguments: { name: 'one__progress', arguments: { steps: 2 } } };
  const stream = await client.post({
    id: 1,
    method: 'tools/call',
    params: { ...params, _meta: { progressToken: 'p' } },
  });
  const messages = [];
  for (let event = await stream.next(); event; event = await stream.next()) messages.push(event.message);
  expect(messages.map((message) => message?.method ?? 'result')).toEqual([
    'notifications/progress',
    'notifications/progress',
    'result',
  ]);
  const { calls } = (await api(running).get(`/api/calls?session=${id}`)).body;
  expect(calls.map(({ tool }: { tool: string }) => tool).sort()).toEqual(['call_tool', 'progress']);
});

test('a call_tool that is cancelled, or whose caller goes away, cancels the call that it made', async () => {
  const { id, token } = await open({ catalog: 'search' });
  const client = await SseClient.initialize(running, {}, '2025-11-25', token);
  const params = { name: 'call_tool', arguments: { name: 'one__hang' } };
  const asked = client.post({ id: 7, method: 'tools/call', params });
  await trace.saw('started hang ');
  await client.post({ method: 'notifications/cancelled', params: { requestId: 7 } });
  await trace.saw('cancelled ');
  expect(await (await asked).next()).toBeUndefined();

  const caller = new AbortController();
  const calling = fetch(`${running.url}/api/tools/virtual/call_tool`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(params.arguments),
    signal: caller.signal,
  });
  await trace.saw('started hang ', 2);
  caller.abort();
  await expect(calling).rejects.toThrow(/abort/);
  await trace.saw('cancelled ', 2);
  await eventually('all four calls are recorded', async () => {
    const { calls } = (await api(running).get(`/api/calls?session=${id}`)).body;
    const outcomes = calls.map(({ tool, status }: Record<string, string>) => `${tool} ${status}`);
    return (
      outcomes.sort().join() ===
      ['call_tool cancelled', 'call_tool cancelled', 'hang cancelled', 'hang cancelled'].join()
    );
  });
});

test('without the mode the finders are not listed, and GET /api/tools/search finds whole tools', async () => {
  const { token } = await open({});
  expect(await listed(token)).toEqual(expect.not.arrayContaining(['search_tools', 'human_feedback']));
  const { body } = await api(running).get('/api/tools/search?q=camel%20echo&limit=3');
  expect(body.tools[0]).toMatchObject({
    name: expect.stringContaining('echo'),
    inputSchema: {},
    type: 'mcp',
  });
  expect((await api(running).get('/api/tools/search')).status).toBe(400);
});

test('a question to a person waits for their words', async () => {
  const { token } = await open({ tools: { allow: ['human_feedback', 'bare__*'] } });
  expect(await listed(token)).toContain('human_feedback');
  const answer = call(token, 'human_feedback', { question: 'Blue or green?', options: ['blue', 'green'] });
  const proposal = await nextProposal();
  expect(proposal).toMatchObject({
    kind: 'question',
    arguments: { question: 'Blue or green?', options: ['blue', 'green'] },
  });
  await api(running).post(`/api/proposals/${proposal.id}`).send({ accept: true, note: 'green' });
  expect((await answer).result).toBe('green');
});

test('a result that was cut is kept whole for its session, and read and searched there', async () => {
  const mine = await open({ limits: { resultBytes: 1000 } });
  expect(await listed(mine.token)).toEqual(
    expect.arrayContaining(['read_large_output', 'search_large_output']),
  );
  const text = Array.from({ length: 500 }, (_, index) => `line ${index} 🦊`).join('\n');
  const cut = await fetch(`${running.url}/tools/mcp/bare/echo`, {
    method: 'POST',
    headers: { authorization: `Bearer ${mine.token}` },
    body: JSON.stringify({ text }),
  });
  const id = /with id "([^"]+)"/.exec(((await cut.json()) as { result: string }).result)?.[1] ?? '';

  let read = '';
  for (let offset = 0, isEnd = false; !isEnd; ) {
    const { result } = await call(mine.token, 'read_large_output', { id, offset, bytes: 1001 });
    const [, piece = '', next, rest] = /^(.*)\n\[bytes \d+ to (\d+) of \d+; (.+)\]$/s.exec(result) ?? [];
    read += piece;
    offset = Number(next);
    isEnd = rest === 'this is the end';
  }
  expect(read).toBe(text);
  const found = await call(mine.token, 'search_large_output', { id, query: 'LINE 499' });
  expect(found.result).toBe('500: line 499 🦊');

  const other = await open({});
  for (const strange of [id, '../../token', '..'])
    expect((await call(other.token, 'read_large_output', { id: strange })).error?.code).toBe('NOT_FOUND');
});

test('prompts and resources are there as tools for clients that know no others', async () => {
  const { token } = await open({ tools: { allow: ['one__*', 'get_prompt', 'get_resource'] } });
  expect(await listed(token)).toEqual(expect.arrayContaining(['get_prompt', 'get_resource']));
  const prompt = await call(token, 'get_prompt', { name: 'one__greet', arguments: { who: 'Ada' } });
  expect(prompt.result).toBe('Greet Ada');
  expect((await call(token, 'get_resource', { uri: 'test://a' })).result).toBe('content of test://a');
  const other = await open({ tools: { allow: ['bare__*', 'get_prompt'] } });
  expect((await call(other.token, 'get_prompt', { name: 'one__greet' })).error).toBeDefined();
});

async function nextProposal() {
  for (;;) {
    const { proposals } = (await api(running).get('/api/proposals')).body;
    if (proposals.length > 0) return proposals[0];
    await new Promise((resolve) => setImmediate(resolve));
  }
}
