import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { fixture } from '../support/processes.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator();
});
afterAll(() => running.stop());

const hello = { success: true, result: 'hello', content: [{ type: 'text', text: 'hello' }] };

describe('calls over REST', () => {
  verifies('contract.execute', async () => {
    const bodies = [
      { server_name: 'bare', tool_name: 'echo', arguments: { text: 'hello' } },
      { server: 'bare', tool: 'echo', args: { text: 'hello' }, session_id: 's1' },
    ];
    for (const body of bodies) {
      const { status, body: reply } = await api(running).post('/api/mcp/execute').send(body);
      expect([status, reply]).toEqual([200, hello]);
    }
  });

  verifies('contract.execute-listed-name', async () => {
    const echo = await api(running)
      .post('/api/mcp/execute')
      .send({ tool_name: 'bare__echo', arguments: { text: 'hello' } });
    expect(echo.body).toEqual(hello);
    const spec = { tool_name: 'get_api_spec', arguments: { tool_name: ['bare__echo'] } };
    for (const route of ['mcp', 'virtual']) {
      const { body } = await api(running).post(`/api/${route}/execute`).send(spec);
      expect(body.result).toContain('POST $MCP_MCP/bare/echo');
    }
  });

  verifies('contract.paths', async () => {
    for (const prefix of ['', '/api', '/s/one', '/api/s/one']) {
      const { body } = await api(running).post(`${prefix}/tools/mcp/bare/echo`).send({ text: 'hello' });
      expect(body).toEqual(hello);
    }
  });

  verifies('contract.empty-body', async () => {
    for (const body of [undefined, 'null', '{}']) {
      const sent = api(running).post('/tools/mcp/bare/echo').set('content-type', 'application/json');
      const { body: reply } = await (body === undefined ? sent : sent.send(body));
      expect(reply).toMatchObject({ success: true, result: '' });
    }
  });

  test("a caller that accepts the whole result gets the tool's answer alone", async () => {
    const { body } = await api(running)
      .post('/tools/mcp/bare/echo')
      .set('accept', 'application/vnd.mcp.result+json')
      .send({ text: 'hello' });
    expect(body).toEqual({ content: hello.content });
  });
});

describe('what is refused', () => {
  verifies('bad.unknown-tool', async () => {
    const tool = await api(running).post('/tools/mcp/bare/ecko').send({});
    expect(tool.status).toBe(404);
    expect(tool.body.error).toMatchObject({ code: 'UNKNOWN_TOOL', layer: 'catalog', retryable: false });
    expect(tool.body.error.message).toBe('Server "bare" has no tool "ecko". Nearest: "echo".');
    const server = await api(running).post('/tools/mcp/bear/echo').send({});
    expect(server.body.error.message).toBe('There is no server "bear". Nearest: "bare".');
  });

  verifies('bad.arguments', async () => {
    const { status, body } = await api(running).post('/tools/mcp/bare/echo').send({ text: 7 });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: 'The arguments do not fit "echo": /text: must be string, got number.',
      details: { faults: ['/text: must be string, got number'] },
    });
    const list = await api(running).post('/tools/mcp/bare/echo').send(['hello']);
    expect(list.body.error.message).toBe('The arguments of "echo" must be a JSON object.');
  });

  verifies('bad.token', async () => {
    for (const authorization of ['', 'Bearer wrong', `Basic ${running.token}`]) {
      const { status, body, headers } = await api(running)
        .post('/tools/mcp/bare/echo')
        .set({ authorization })
        .send({});
      expect([status, body.error.code, headers['www-authenticate']]).toEqual([401, 'UNAUTHORIZED', 'Bearer']);
      expect(body.error.message).toContain('$MCPBRIDGE_HOME/token');
      expect(JSON.stringify(body)).not.toContain(running.token);
    }
  });

  verifies('bad.body', async () => {
    const large = `{"text":"${'x'.repeat(30 * 1024 * 1024)}"}`;
    const { status, body } = await api(running)
      .post('/tools/mcp/bare/echo')
      .set('content-type', 'application/json')
      .send(large);
    expect([status, body.error.code]).toEqual([413, 'BODY_TOO_LARGE']);
    expect(body.error.message).toContain('over the limit of 25165824 bytes');
    const next = await api(running).post('/tools/mcp/bare/echo').send({ text: 'hello' });
    expect(next.body).toEqual(hello);
  });

  test('a body that is not JSON, a body without a tool, an unknown route and a wrong method each get one sentence', async () => {
    const post = (path: string, body: string) =>
      api(running).post(path).set('content-type', 'application/json').send(body);
    expect((await post('/tools/mcp/bare/echo', '{"text":')).body.error.message).toMatch(
      /^The request body is not JSON: /,
    );
    expect((await post('/api/mcp/execute', '{"server":"bare"}')).body.error.code).toBe('INVALID_REQUEST');
    expect((await post('/nowhere', '{}')).body.error.message).toContain('nothing at /nowhere');
    const method = await api(running).get('/api/mcp/execute');
    expect([method.status, method.body.error.message]).toEqual([
      405,
      '/api/mcp/execute takes POST, not GET.',
    ]);
    expect((await post('/tools/mcp/bare/%zz', '{}')).status).toBe(400);
  });
});

test('a call that finds no room for its process within its time is told that, and not that its tool was slow', async () => {
  // The connection that hears of changed tools has the only place.
  const features = { command: process.execPath, args: [fixture('features-server.mjs')], timeout: '200ms' };
  const full = await startOrchestrator({ servers: { features }, env: { MAX_UPSTREAM_PROCESSES: '1' } });
  try {
    const { status, body } = await api(full).post('/api/tools/mcp/features/echo').send({ text: 'x' });
    expect([status, body.error]).toMatchObject([503, { code: 'TOO_MANY_PROCESSES', retryable: true }]);
    expect(body.error.message).toMatch(/within the time that the call may take.*MAX_UPSTREAM_PROCESSES/);
  } finally {
    await full.stop();
  }
});
