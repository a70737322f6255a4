import { mkdir } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startExecutor } from '../fixtures/executor.mjs';
import { type Exchange, type RunningEndpoint, startEndpoint } from '../fixtures/mcp-endpoint.mjs';
import { eventually } from '../support/processes.js';
import { modernMeta, startBridge, toolList } from '../support/spawned-bridge.js';
import type { Frame, StdioPeer } from '../support/stdio-peer.js';
import { WAYS } from '../support/ways.js';

describe.each(WAYS)('%s', (_way, way) => {
  let endpoint: RunningEndpoint;

  beforeEach(async () => {
    endpoint = await startEndpoint(way());
  });
  afterEach(() => endpoint.stop());

  const start = (env: NodeJS.ProcessEnv = {}) => startBridge({ MCP_API_URL: endpoint.url, ...env });

  async function startSession(env: NodeJS.ProcessEnv = {}): Promise<StdioPeer> {
    const bridge = start(env);
    const stream = endpoint.next('stream');
    await bridge.initialize({ roots: {} });
    await stream;
    return bridge;
  }

  /** The orchestrator anew, on the same port, knowing nothing of before. */
  async function startAgain(): Promise<void> {
    endpoint = await startEndpoint({ ...way(), port: endpoint.port });
  }

  const textOf = (frame: Frame): string => frame.result.content[0].text;

  describe('an orchestrator that was restarted', () => {
    test('answers the next call in a session that was opened again, and the client sees nothing of it', async () => {
      const bridge = await startSession();
      await bridge.callTool('echo', { text: 'one' });
      const [before] = endpoint.sessions;
      await endpoint.stop();
      await startAgain();
      const seen = bridge.frames.length;
      expect(textOf(await bridge.callTool('echo', { text: 'two' }))).toBe('two');
      expect(bridge.frames.length).toBe(seen + 1);
      const [after] = endpoint.sessions;
      expect(after).not.toBe(before);
      expect(endpoint.seen('initialize')[0]?.message.params.capabilities).toEqual({ roots: {} });
      expect(endpoint.seen('notifications/initialized')[0]?.headers['mcp-session-id']).toBe(after);
    });

    test('is heard again by itself, without a call', async () => {
      const bridge = await startSession();
      await endpoint.stop();
      await startAgain();
      await eventually('the stream is open again', () => endpoint.streams.size > 0);
      endpoint.say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      await bridge.waitFor(({ method }) => method === 'notifications/tools/list_changed');
    });

    test('gets one handshake for a hundred calls that find their session lost', async () => {
      const bridge = await startSession();
      endpoint.sessions.clear();
      const { initialize } = endpoint.answers;
      endpoint.answers.initialize = async (message, exchange) => {
        await eventually('several calls were refused', () => endpoint.seen('tools/call').length > 1);
        initialize(message, exchange);
      };
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => bridge.callTool('echo', { text: `${index}` })),
      );
      expect(answers.map(textOf)).toEqual(Array.from({ length: 100 }, (_, index) => `${index}`));
      expect(endpoint.seen('initialize')).toHaveLength(2);
    });

    test('that refuses the handshake is an error, and the next message tries again', async () => {
      const bridge = await startSession();
      endpoint.sessions.clear();
      const { initialize } = endpoint.answers;
      endpoint.answers.initialize = (_: Frame, exchange: Exchange) => exchange.raw('no', 500);
      const failed = await bridge.callTool('echo', {});
      expect(textOf(failed)).toMatch(/session could not be opened again.*500.*\[code: EXECUTOR_UNREACHABLE/s);
      endpoint.answers.initialize = initialize;
      expect(textOf(await bridge.callTool('echo', { text: 'again' }))).toBe('again');
    });
  });

  describe('an orchestrator that is down', () => {
    test('gets the call when it is there again; the person is told once', async () => {
      const bridge = await startSession();
      await endpoint.stop();
      const answers = Promise.all([
        bridge.callTool('echo', { text: 'a' }, modernMeta),
        bridge.callTool('echo', { text: 'b' }),
      ]);
      await eventually('the bridge complains', () => bridge.stderr);
      await startAgain();
      expect((await answers).map(textOf)).toEqual(['a', 'b']);
      expect(bridge.stderr.trim().split('\n')).toHaveLength(1);
      expect(bridge.stderr).toMatch(/127\.0\.0\.1:\d+ .*cannot be reached.*ECONNREFUSED.*10 s/);
    });

    test('for longer than MCP_CONNECT_TIMEOUT is a clear error, and what to do', async () => {
      await endpoint.stop();
      const bridge = start({ MCP_CONNECT_TIMEOUT: '150ms' });
      const { error } = await bridge.initialize();
      expect(error.message).toMatch(
        /could not be reached within 0\.15 s.*ECONNREFUSED.*`npm start`.*MCP_API_URL/,
      );
      expect(error.data).toEqual({ code: 'EXECUTOR_UNREACHABLE', layer: 'bridge', retryable: true });
      const failed = await bridge.callTool('echo', {});
      expect(failed.result.isError).toBe(true);
      expect(textOf(failed)).toMatch(/could not be reached.*\[code: EXECUTOR_UNREACHABLE, layer: bridge\]/s);
      await startAgain();
      expect((await bridge.initialize()).result.serverInfo.name).toBe('endpoint');
    });

    test('never sees a call that was cancelled meanwhile', async () => {
      const bridge = await startSession();
      await endpoint.stop();
      bridge.send({ id: 'gone', method: 'tools/call', params: { name: 'echo' } });
      await eventually('the bridge complains', () => bridge.stderr);
      bridge.notify('notifications/cancelled', { requestId: 'gone' });
      await startAgain();
      await bridge.callTool('echo', { text: 'after' });
      expect(endpoint.seen('tools/call').map(({ message }) => message.id)).not.toContain('gone');
      expect(bridge.frames.filter(({ id }) => id === 'gone')).toEqual([]);
    });

    test('by saying that it shuts down, is waited for', async () => {
      let refusals = 0;
      const { 'tools/call': answer } = endpoint.answers;
      endpoint.answers['tools/call'] = (message: Frame, exchange: Exchange) => {
        if (refusals++ === 2) return answer(message, exchange);
        const data = { code: 'SHUTTING_DOWN', layer: 'http', retryable: true };
        exchange.json(
          { jsonrpc: '2.0', id: message.id, error: { code: -32603, message: 'closing', data } },
          503,
        );
      };
      expect(textOf(await start().callTool('echo', { text: 'hi' }, modernMeta))).toBe('hi');
    });

    test('under a name that does not exist, is not waited for', async () => {
      const { error } = await start({ MCP_API_URL: 'http://no-such-host.invalid' }).initialize();
      expect(error.message).toMatch(/could not be reached: getaddrinfo/);
    });

    test('is waited for in listed mode as well', async () => {
      const executor = await startExecutor(way());
      const bridge = startBridge({ MCP_API_URL: executor.url, MCP_TOOLS: toolList('echo') });
      await bridge.callTool('echo', {});
      await executor.stop();
      const answer = bridge.callTool('echo', { text: 'later' });
      await eventually('the bridge complains', () => bridge.stderr);
      const again = await startExecutor({ ...way(), port: executor.port });
      expect(textOf(await answer)).toBe('later');
      await again.stop();
    });
  });

  describe('a connection that breaks', () => {
    const breakOnce = (
      method: 'tools/call' | 'tools/list' | 'server/discover' | 'initialize',
      last?: (exchange: Exchange) => void,
    ) => {
      const answer = endpoint.answers[method];
      endpoint.answers[method] = (_: Frame, exchange: Exchange) => {
        endpoint.answers[method] = answer;
        last?.(exchange);
        setImmediate(() => exchange.break());
      };
    };

    test('during a call is an error that says it may have run, and the call is not sent twice', async () => {
      breakOnce('tools/call');
      const { result } = await start().callTool('echo', {}, modernMeta);
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toMatch(
        /broke during "tools\/call".*may or may not have been carried out.*\[code: CONNECTION_LOST, layer: bridge\]/s,
      );
      expect(endpoint.seen('tools/call')).toHaveLength(1);
    });

    test('during anything else is not noticed: the message is sent again', async () => {
      const bridge = start();
      for (const method of ['tools/list', 'server/discover', 'initialize'] as const) {
        breakOnce(method);
        const params = {
          ...(method === 'initialize' ? { protocolVersion: '2025-11-25' } : { _meta: modernMeta }),
        };
        expect(await bridge.request(method, params)).toHaveProperty('result');
        expect(endpoint.seen(method)).toHaveLength(2);
      }
    });

    test('before the last event breaks the call, after it does not', async () => {
      const event = {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 1, progress: 1 },
      };
      breakOnce('tools/call', (exchange) => exchange.event(event));
      const bridge = start();
      expect(textOf(await bridge.callTool('echo', {}, modernMeta))).toMatch(/may or may not/);
      breakOnce('tools/call', (exchange) => {
        exchange.event({
          jsonrpc: '2.0',
          id: exchange.message.id,
          result: { content: [{ type: 'text', text: 'ok' }] },
        });
      });
      expect(textOf(await bridge.callTool('echo', {}, modernMeta))).toBe('ok');
      await bridge.callTool('echo', {}, modernMeta);
      expect(bridge.frames).toHaveLength(4);
    });

    test('in listed mode is the same error', async () => {
      const { url, close } = await listen((request) => {
        request.resume().on('end', () => request.socket.destroy());
      }, way());
      const bridge = startBridge({ MCP_API_URL: url, MCP_TOOLS: toolList('echo') });
      const { result } = await bridge.callTool('echo', {});
      expect(result.content[0].text).toMatch(
        /broke during "echo".*may or may not.*CONNECTION_LOST, layer: bridge/s,
      );
      close();
    });

    test('before all of a call was sent proves that it did not run, so it is sent again', async () => {
      let tries = 0;
      const { url, close } = await listen(async (request, response) => {
        if (tries++ === 0) return request.socket.destroy();
        let bytes = 0;
        for await (const chunk of request) bytes += chunk.length;
        response.end(JSON.stringify({ success: true, result: `${bytes} bytes` }));
      }, way());
      const bridge = startBridge({ MCP_API_URL: url, MCP_TOOLS: toolList('echo') });
      const answer = await bridge.callTool('echo', { text: 'x'.repeat(16_000_000) });
      expect(textOf(answer)).toBe('16000011 bytes');
      close();
    });
  });
});

/** A server of the test's own, on the ways that the fixtures listen on. */
async function listen(serve: RequestListener, { home }: { home?: string }) {
  const tcp = createServer(serve);
  const servers: Server[] = [tcp];
  await new Promise<void>((ready) => tcp.listen(0, '127.0.0.1', ready));
  const { port } = tcp.address() as AddressInfo;
  if (home) {
    await mkdir(home, { recursive: true });
    const local = createServer(serve);
    servers.push(local);
    await new Promise<void>((ready) => local.listen(`${home}/${port}.sock`, ready));
  }
  const close = () => {
    for (const server of servers) server.close().closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
