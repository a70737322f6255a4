import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ended, eventually } from '../support/processes.js';
import { callTool, type HttpServer, TestCaller, textOf, Upstreams } from '../support/upstreams.js';

const upstreams = new Upstreams();
const caller = new TestCaller('a');
afterEach(() => upstreams.close());

async function killed({ process }: HttpServer): Promise<void> {
  process.kill('SIGKILL');
  await ended(process);
}

describe('Streamable HTTP', () => {
  for (const status of ['404', '400']) {
    test(`calls of a session that the server has forgotten (${status}) are made in a new one, each once`, async () => {
      const trace = await upstreams.trace();
      const server = await upstreams.httpServer({ SESSION_LOST_STATUS: status, TRACE_FILE: trace.file });
      const provider = upstreams.remote(`${server.url}/mcp`);
      expect(await textOf(provider, caller, 'counter')).toBe('1');
      await server.control('forget');
      const calls = Array.from({ length: 5 }, () => textOf(provider, caller, 'counter'));
      expect((await Promise.all(calls)).sort()).toEqual(['1', '2', '3', '4', '5']);
      expect(trace.matching(/^started counter/)).toHaveLength(6);
      expect(await server.control('count')).toMatchObject({ sessions: 1 });
    });
  }

  test('nothing is sent before the server has taken the handshake', async () => {
    const server = await upstreams.httpServer({ STRICT: '1' });
    const provider = upstreams.remote(`${server.url}/mcp`);
    const calls = Array.from({ length: 3 }, () => textOf(provider, caller, 'echo', { text: 'in time' }));
    expect(await Promise.all(calls)).toEqual(['in time', 'in time', 'in time']);
  });

  test('a server that was restarted is used again by the next call', async () => {
    const server = await upstreams.httpServer();
    const provider = upstreams.remote(`${server.url}/mcp`);
    expect(await textOf(provider, caller, 'counter')).toBe('1');
    await killed(server);
    await upstreams.httpServer({ PORT: server.port });
    expect(await textOf(provider, caller, 'counter')).toBe('1');
  });

  test('a server that is down is reported with its address, and the call may be tried again', async () => {
    const server = await upstreams.httpServer();
    const provider = upstreams.remote(`${server.url}/mcp?key=secret`);
    await textOf(provider, caller, 'echo');
    await killed(server);
    const failure = await textOf(provider, caller, 'echo').catch((error) => error);
    expect(failure).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', retryable: true });
    expect(failure.message).toBe(`Server "remote" cannot be reached at ${server.url}/mcp (ECONNREFUSED).`);
    expect(provider.health).toMatchObject({ state: 'failed', retryAt: expect.any(Number) });
  });

  test('a call whose connection breaks is lost and not made again', async () => {
    const trace = await upstreams.trace();
    const server = await upstreams.httpServer({ TRACE_FILE: trace.file });
    const provider = upstreams.remote(`${server.url}/mcp`);
    await provider.refresh();
    const call = callTool(provider, caller, 'hang').catch((error) => error);
    await trace.line(/^started hang/);
    await server.control('drop-streams');
    expect(await call).toMatchObject({
      code: 'CONNECTION_LOST',
      retryable: false,
      message: expect.stringMatching(/^"hang" was cut off: Server "remote" broke the connection off/),
    });
    expect(await textOf(provider, caller, 'counter')).toBe('1');
    expect(trace.matching(/^started hang/)).toHaveLength(1);
  });

  test('a call that only reads is made once more', async () => {
    const trace = await upstreams.trace();
    const server = await upstreams.httpServer({ TRACE_FILE: trace.file });
    const provider = upstreams.remote(`${server.url}/mcp`);
    await provider.refresh();
    const controller = new AbortController();
    const call = callTool(provider, caller, 'hang_readonly', { signal: controller.signal }).catch(
      (error) => error,
    );
    await trace.line(/^started hang_readonly/);
    await server.control('drop-streams');
    await eventually('it was started again', () => trace.matching(/^started hang_readonly/).length === 2);
    controller.abort();
    expect(await call).toMatchObject({ code: 'CALL_CANCELLED' });
  });

  test('a cancelled call is cancelled at the server by its id, and its stream is let go', async () => {
    const trace = await upstreams.trace();
    const server = await upstreams.httpServer({ TRACE_FILE: trace.file });
    const provider = upstreams.remote(`${server.url}/mcp`);
    const controller = new AbortController();
    const call = callTool(provider, caller, 'hang', { signal: controller.signal }).catch((error) => error);
    const id = (await trace.line(/^started hang/)).split(' ')[2];
    controller.abort();
    expect(await call).toMatchObject({ code: 'CALL_CANCELLED' });
    expect(await trace.line(/^cancelled/)).toMatch(`cancelled ${id} `);
  });

  test('an ended session is deleted at the server, after its calls were cancelled, and leaves no socket', async () => {
    const trace = await upstreams.trace();
    const server = await upstreams.httpServer({ TRACE_FILE: trace.file });
    const provider = upstreams.remote(`${server.url}/mcp`);
    const call = callTool(provider, caller, 'hang').catch((error) => error);
    await trace.line(/^started hang/);
    await provider.endSession('a');
    expect(await call).toMatchObject({ code: 'CALL_CANCELLED' });
    const events = trace.lines().map((line) => line.split(' ')[0]);
    expect(events.slice(-2)).toEqual(['cancelled', 'deleted']);
    await eventually('only the test itself is connected', async () => {
      const { sessions, sockets } = await server.control('count');
      return sessions === 0 && sockets === 1;
    });
  });

  test('a server that does not answer the farewell holds nobody up', async () => {
    const server = await upstreams.httpServer();
    const provider = upstreams.remote(`${server.url}/mcp`);
    await textOf(provider, caller, 'echo');
    server.process.kill('SIGSTOP');
    await provider.close();
    server.process.kill('SIGCONT');
  });

  test("the entry's headers go with every request, and a refused key is named as the cause", async () => {
    const server = await upstreams.httpServer({ TOKEN: 'right' });
    const good = upstreams.remote(`${server.url}/mcp`, { Authorization: 'Bearer right' });
    expect(await textOf(good, caller, 'echo', { text: 'in' })).toBe('in');
    const bad = upstreams.remote(`${server.url}/mcp`, { Authorization: 'Bearer wrong' });
    await expect(bad.refresh()).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      retryable: false,
      message: 'Server "remote" answered 401: its key is missing or not valid; see its "headers".',
    });
  });

  test('an address without an MCP server says so', async () => {
    const { url } = await upstreams.httpServer();
    await expect(upstreams.remote(`${url}/elsewhere`).refresh()).rejects.toThrow(
      `Server "remote" answered 404: ${url}/elsewhere is not an MCP endpoint of this kind.`,
    );
  });

  test('a server that takes the connection and says nothing is given up after its start time', async () => {
    const silent = createServer(() => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    for (const path of ['/mcp', '/sse']) {
      const provider = upstreams.remote(`http://127.0.0.1:${port}${path}`, {}, { startTimeoutMs: 300 });
      await expect(provider.refresh()).rejects.toThrow('Server "remote" was not ready within 0.3 s.');
    }
    await upstreams.close();
    silent.close();
  });

  test('a message over the limit fails its call alone, as JSON and as a stream', async () => {
    const limit = { maxMessageBytes: 200_000 };
    for (const env of [{ JSON_ONLY: '1' }, {}] as Record<string, string>[]) {
      const server = await upstreams.httpServer(env);
      const provider = upstreams.remote(`${server.url}/mcp`, {}, limit);
      expect(await textOf(provider, caller, 'counter')).toBe('1');
      await expect(callTool(provider, caller, 'big', { args: { bytes: 1_000_000 } })).rejects.toMatchObject({
        code: 'RESULT_TOO_LARGE',
        message: 'Server "remote" sent a message of more than 200000 bytes.',
      });
      expect(await textOf(provider, caller, 'big', { bytes: 150_000 })).toHaveLength(150_000);
      expect(await textOf(provider, caller, 'counter')).toBe('2');
    }
  });

  test('ten megabytes arrive whole', async () => {
    const server = await upstreams.httpServer();
    for (const path of ['/mcp', '/sse']) {
      const provider = upstreams.remote(server.url + path);
      expect(await textOf(provider, caller, 'big', { bytes: 10_000_000 })).toHaveLength(10_000_000);
    }
  });
});

describe('the older SSE', () => {
  test('a broken event stream loses the calls, and the next one opens another', async () => {
    const trace = await upstreams.trace();
    const server = await upstreams.httpServer({ TRACE_FILE: trace.file });
    const provider = upstreams.remote(`${server.url}/sse`);
    const call = callTool(provider, caller, 'hang').catch((error) => error);
    await trace.line(/^started hang/);
    await server.control('drop-streams');
    expect(await call).toMatchObject({
      code: 'CONNECTION_LOST',
      message: '"hang" was cut off: Server "remote" ended its event stream.',
    });
    expect(await textOf(provider, caller, 'counter')).toBe('1');
  });

  test('an ended session closes its stream', async () => {
    const server = await upstreams.httpServer();
    const provider = upstreams.remote(`${server.url}/sse`);
    await textOf(provider, caller, 'echo');
    expect(await server.control('count')).toMatchObject({ events: 1 });
    await provider.endSession('a');
    await eventually('the stream is closed', async () => (await server.control('count')).events === 0);
  });
});

describe('the modern era over HTTP', () => {
  test('arguments that the schema wants in headers are there, and the body is as ever', async () => {
    const server = await upstreams.httpServer();
    const provider = upstreams.remote(`${server.url}/modern`);
    await provider.refresh();
    const headers = JSON.parse(await textOf(provider, caller, 'header', { region: 'Zürich' }));
    expect(headers).toMatchObject({
      'mcp-method': 'tools/call',
      'mcp-name': 'header',
      'mcp-protocol-version': '2026-07-28',
      'mcp-param-region': `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
    });
  });

  test('a cancelled call ends its stream, which is what cancels it', async () => {
    const trace = await upstreams.trace();
    const server = await upstreams.httpServer({ TRACE_FILE: trace.file });
    const provider = upstreams.remote(`${server.url}/modern`);
    const controller = new AbortController();
    const call = callTool(provider, caller, 'hang', { signal: controller.signal }).catch((error) => error);
    await trace.line(/^started hang/);
    controller.abort();
    expect(await call).toMatchObject({ code: 'CALL_CANCELLED' });
    await trace.line(/^closed tools\/call early/);
    expect(trace.matching(/^posted/)).toEqual([]);
  });
});

describe('an entry for Streamable HTTP', () => {
  const provider = (url: string) =>
    upstreams.provider({ id: 'remote', transport: { kind: 'http', url, headers: {} }, isolation: 'session' });

  test('whose server has only the older events is spoken to in these, and found out once', async () => {
    const trace = await upstreams.trace();
    const server = await upstreams.httpServer({ TRACE_FILE: trace.file });
    const older = provider(`${server.url}/sse`);
    expect(await textOf(older, new TestCaller('a'), 'echo', { text: 'old' })).toBe('old');
    const posted = trace.matching(/^posted to sse/).length;
    expect(await textOf(older, new TestCaller('b'), 'echo', { text: 'too' })).toBe('too');
    expect(trace.matching(/^posted to sse/)).toHaveLength(posted);
  });

  test('whose server has neither hears what it said to the first request', async () => {
    const server = await upstreams.httpServer();
    await expect(
      textOf(provider(`${server.url}/nothing`), new TestCaller('a'), 'echo'),
    ).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
      message: expect.stringContaining('/nothing is not an MCP endpoint of this kind'),
    });
  });
});
