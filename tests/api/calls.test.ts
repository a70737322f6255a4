import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { featuresServer } from '../support/road.js';
import { Trace } from '../support/trace.js';

let running: RunningOrchestrator;
let trace: Trace;
beforeAll(async () => {
  trace = await Trace.make();
  running = await startOrchestrator({
    servers: {
      bare: bareServer,
      features: featuresServer({ TRACE_FILE: trace.file }),
      hasty: featuresServer({ TRACE_FILE: trace.file }, { timeout: '300ms' }),
    },
    env: { SECRET_PARENT: 'canary-of-the-parent' },
  });
});
afterAll(() => running.stop());

const call = (path: string, args: object, session?: string) =>
  api(running, session).post(`/tools/mcp/${path}`).send(args);

describe('a request to the workspace', () => {
  const workspace = (method: 'get' | 'post' | 'put', path: string) =>
    api(running, 'by-address')[method](path);
  const logged = async () =>
    (await api(running).get('/api/calls?session=by-address')).body.calls as Record<string, unknown>[];

  verifies('call.workspace-recorded', async () => {
    const execute = await workspace('post', '/api/execute').send({ command: `echo ${running.token}` });
    expect(execute.status).toBe(200);
    await workspace('post', '/api/documents').send({ filepath: 'a.txt', content: 'text of a' });
    await workspace('get', '/api/documents/a.txt');
    await workspace('get', '/api/documents/none.txt');
    await workspace('get', '/api/documents/..%2F..%2Fsecret.txt');
    const calls = await logged();
    expect(calls.map(({ server, tool, status, code }) => [server, tool, status, code]).slice(1)).toEqual([
      ['custom', 'GET /api/documents/{*filepath}', 'failed', 'NOT_FOUND'],
      ['custom', 'GET /api/documents/{*filepath}', 'ok', undefined],
      ['custom', 'POST /api/documents', 'ok', undefined],
      ['custom', 'execute_shell_command', 'ok', undefined],
    ]);
    expect(calls[0]).toMatchObject({
      tool: 'GET /api/documents/{*filepath}',
      code: 'PATH_NOT_ALLOWED',
      status: 'refused',
    });
    const { body } = await api(running).get(`/api/calls/${calls[2]?.id}`);
    expect(body).toMatchObject({ arguments: { path: 'a.txt' }, principal: 'owner' });
    expect(JSON.stringify(body.result)).toContain('text of a');
    const command = (await api(running).get(`/api/calls/${calls[4]?.id}`)).text;
    expect(command).toContain('echo');
    expect(command + JSON.stringify(calls)).not.toContain(running.token);
  });

  test('one that the session may not make is in the log as refused', async () => {
    await api(running)
      .post('/api/sessions')
      .send({ id: 'no-shell', tools: { deny: ['execute_shell_command'] } });
    await api(running, 'no-shell').post('/api/execute').send({ command: 'echo no' });
    const { calls } = (await api(running).get('/api/calls?session=no-shell')).body;
    expect(calls).toMatchObject([
      { tool: 'execute_shell_command', status: 'refused', code: 'TOOL_NOT_ALLOWED' },
    ]);
  });
});

describe('a call', () => {
  verifies('call.deadline', async () => {
    const cancelled = trace.count('cancelled ');
    const { status, body } = await call('hasty/hang', {});
    expect([status, body.error]).toEqual([
      504,
      {
        code: 'CALL_TIMEOUT',
        message: '"hasty__hang" gave no answer within 300 ms and was cancelled.',
        layer: 'call',
        retryable: false,
      },
    ]);
    await trace.saw('cancelled ', cancelled + 1);
  });

  verifies('call.cancel', async () => {
    const [started, cancelled] = [trace.count('started hang '), trace.count('cancelled ')];
    const caller = new AbortController();
    const { signal } = caller;
    const gone = fetch(`${running.url}/tools/mcp/features/hang`, {
      method: 'POST',
      headers: running.headers(),
      signal,
    });
    await trace.saw('started hang ', started + 1);
    caller.abort();
    await expect(gone).rejects.toThrow();
    await trace.saw('cancelled ', cancelled + 1);
  });

  verifies('call.recorded', async () => {
    await call(
      'bare/echo',
      { text: 'hello', password: 'canary-in-the-arguments', deep: { api_key: 'canary-too' } },
      'recorded',
    );
    await call('features/fail', { text: 'no luck' }, 'recorded');
    await call('bare/ecko', {}, 'recorded');
    await call('hasty/hang', {}, 'recorded');
    const { body, text } = await api(running).get('/api/calls?session=recorded');
    const rows = body.calls.map((row: Record<string, unknown>) => [
      row.server,
      row.tool,
      row.status,
      row.code,
    ]);
    expect(rows).toEqual([
      ['hasty', 'hang', 'failed', 'CALL_TIMEOUT'],
      ['bare', 'ecko', 'refused', 'UNKNOWN_TOOL'],
      ['features', 'fail', 'failed', 'TOOL_FAILED'],
      ['bare', 'echo', 'ok', undefined],
    ]);
    const echo = await api(running).get(`/api/calls/${body.calls[3].id}`);
    expect(echo.body).toMatchObject({ principal: 'owner', arguments: { text: 'hello' } });
    expect(text + echo.text).not.toContain('canary');
    const page = await api(running).get('/api/calls?session=recorded&limit=3');
    const rest = await api(running).get(`/api/calls?session=recorded&before=${page.body.next}`);
    expect([page.body.calls.length, rest.body.calls.length]).toEqual([3, 1]);
  });

  test("of a tool that fails is a reply with the tool's text and success false", async () => {
    const { status, body } = await call('features/fail', { text: 'no luck' });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: false,
      result: 'no luck',
      error: { code: 'TOOL_FAILED', message: 'no luck', layer: 'tool', retryable: false },
      content: [{ type: 'text', text: 'no luck' }],
      isError: true,
    });
  });

  test('loses nothing of an answer that we do not know the meaning of', async () => {
    const { body } = await call('features/odd', {});
    expect(body).toMatchObject({
      content: [
        { type: 'hologram', density: 3, annotations: { audience: ['user'] } },
        { type: 'text', text: 'odd', 'x-own': [1, 2] },
      ],
      structuredContent: ['not', 'an', 'object'],
      'x-result': { kept: true },
      _meta: { 'ex.org/trace': 'abc' },
    });
  });

  test('streams progress and log lines before its result to a caller that accepts events', async () => {
    const response = await fetch(`${running.url}/tools/mcp/features/progress`, {
      method: 'POST',
      headers: { ...running.headers(), accept: 'text/event-stream' },
      body: JSON.stringify({ steps: 2 }),
    });
    const events = (await response.text())
      .split('\n\n')
      .filter(Boolean)
      .map((event) => event.split('\n')[0]);
    expect(events).toEqual(['event: progress', 'event: progress', 'event: result']);
  });

  test('of a server that dies under it fails with the reason, and the next one works', async () => {
    const { status, body } = await call('features/crash', { code: 7 });
    expect([status, body.error.code, body.error.retryable]).toEqual([502, 'CONNECTION_LOST', false]);
    expect(body.error.message).toContain('exit code 7');
    expect(body.error.message).toContain('about to crash');
    expect((await call('features/echo', { text: 'again' })).body.result).toBe('again');
  });

  test('fifty callers with equal texts but for one word each get their own answer', async () => {
    const texts = Array.from({ length: 50 }, (_, number) => `caller ${number}`);
    const answers = await Promise.all(
      texts.map(async (text) => (await call('features/echo', { text })).body.result),
    );
    expect(answers).toEqual(texts);
  });

  verifies('security.child-environment', async () => {
    const { body } = await call('features/env', {});
    const env = JSON.parse(body.result);
    expect(env.SECRET_PARENT).toBeUndefined();
    expect(env.MCPBRIDGE_HOME).toBeUndefined();
    expect(env.TRACE_FILE).toBe(trace.file);
    expect(env.PATH).toBeDefined();
  });
});
