import { stat, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Exchange, type RunningEndpoint, startEndpoint } from '../fixtures/mcp-endpoint.mjs';
import { eventually } from '../support/processes.js';
import { inFolder, modernMeta, startBridge } from '../support/spawned-bridge.js';
import type { Frame, StdioPeer } from '../support/stdio-peer.js';
import { WAYS } from '../support/ways.js';

let endpoint: RunningEndpoint;

afterEach(() => endpoint.stop());

const start = (env: NodeJS.ProcessEnv = {}) => startBridge({ MCP_API_URL: `${endpoint.url}/api`, ...env });

/** A bridge whose legacy session stands, the stream for unasked messages included. */
async function startSession(env: NodeJS.ProcessEnv = {}): Promise<StdioPeer> {
  const bridge = start(env);
  const stream = endpoint.next('stream');
  await bridge.initialize();
  await stream;
  return bridge;
}

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

describe.each(WAYS)('%s', (_way, way) => {
  beforeEach(async () => {
    endpoint = await startEndpoint(way());
  });

  describe('a legacy client', () => {
    test('gets the answers of the orchestrator, fields it does not know included', async () => {
      endpoint.answers['tools/list'] = (_: Frame, exchange: Exchange) =>
        exchange.result({ tools: [], future: { a: 1 } });
      const bridge = await startSession();
      expect((await bridge.request('tools/list')).result).toEqual({ tools: [], future: { a: 1 } });
      expect((await bridge.request('resources/list')).error).toEqual({ code: -32601, message: 'unknown' });
    });

    test('sends its messages as they are, one POST each, to /mcp', async () => {
      const bridge = await startSession({ MCP_SESSION_ID: 'work', MCP_API_TOKEN: 'secret' });
      await bridge.callTool('echo', { text: 'hi', extra: null });
      const [call] = endpoint.seen('tools/call');
      expect(call?.message.params).toEqual({ name: 'echo', arguments: { text: 'hi', extra: null } });
      expect(call?.headers).toMatchObject({
        authorization: 'Bearer secret',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-session-id': 'work',
      });
      expect(call?.headers).not.toHaveProperty('x-session-lifetime');
    });

    test('is in the session that its handshake opened, with the version agreed on', async () => {
      const bridge = await startSession();
      await bridge.callTool('echo', {});
      const [session] = endpoint.sessions;
      expect(endpoint.seen('initialize')[0]?.headers).not.toHaveProperty('mcp-session-id');
      for (const method of ['notifications/initialized', 'tools/call']) {
        expect(endpoint.seen(method)[0]?.headers).toMatchObject({
          'mcp-session-id': session,
          'mcp-protocol-version': '2025-11-25',
          'x-session-lifetime': 'connection',
        });
      }
    });

    test('that does not wait for the handshake is held back until it is answered', async () => {
      const answer = endpoint.answers.initialize;
      endpoint.answers.initialize = (message: Frame, exchange: Exchange) =>
        setTimeout(() => answer(message, exchange), 50);
      const bridge = start();
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      };
      bridge.send({ id: 'a', method: 'initialize', params });
      bridge.notify('notifications/initialized');
      expect((await bridge.request('tools/list')).result.tools).toHaveLength(1);
      expect(bridge.frames[0]?.id).toBe('a');
    });

    test('hears what the orchestrator says unasked, also after the stream ended', async () => {
      const bridge = await startSession();
      endpoint.say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
      await bridge.waitFor(({ method }) => method === 'notifications/tools/list_changed');
      const again = endpoint.next('stream');
      for (const stream of endpoint.streams) stream.end();
      expect((await again).request.headers['last-event-id']).toBe('7');
      endpoint.say({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'back' } });
      expect((await bridge.waitFor(({ method }) => method === 'notifications/message')).params.data).toBe(
        'back',
      );
    });

    test('gets events before the answer as they come, the answer last', async () => {
      endpoint.answers['tools/call'] = async (message: Frame, exchange: Exchange) => {
        exchange.event({
          jsonrpc: '2.0',
          method: 'notifications/progress',
          params: { progressToken: 1, progress: 1 },
        });
        await endpoint.next('go');
        exchange.event({ jsonrpc: '2.0', id: message.id, result: text('done') });
        exchange.end();
      };
      const bridge = await startSession();
      const answer = bridge.callTool('long', {}, { progressToken: 1 });
      await bridge.waitFor(({ method }) => method === 'notifications/progress');
      endpoint.events.emit('go');
      expect((await answer).result).toEqual(text('done'));
    });

    test('is asked, and its answer is delivered, while the call waits', async () => {
      endpoint.answers['tools/call'] = async (message: Frame, exchange: Exchange) => {
        exchange.event({
          jsonrpc: '2.0',
          id: 'q1',
          method: 'elicitation/create',
          params: { message: 'sure?' },
        });
        const reply = await endpoint.next('exchange', (other) => other.message.id === 'q1');
        exchange.event({ jsonrpc: '2.0', id: message.id, result: text(reply.message.result.action) });
        exchange.end();
      };
      const bridge = await startSession();
      const answer = bridge.callTool('ask', {});
      const question = await bridge.waitFor(({ method }) => method === 'elicitation/create');
      bridge.send({ id: question.id, result: { action: 'accept' } });
      expect((await answer).result).toEqual(text('accept'));
    });

    test('has its cancellation delivered, and the call answered by the orchestrator', async () => {
      const held: Exchange[] = [];
      endpoint.answers['tools/call'] = (_: Frame, exchange: Exchange) => held.push(exchange);
      endpoint.answers['notifications/cancelled'] = (message: Frame, exchange: Exchange) => {
        exchange.raw('', 202);
        const call = held.find((one) => one.message.id === message.params.requestId);
        call?.json({ jsonrpc: '2.0', id: call.message.id, error: { code: -32800, message: 'cancelled' } });
      };
      const bridge = await startSession();
      const arrived = endpoint.next('exchange', ({ message }) => message.method === 'tools/call');
      const answer = bridge.request('tools/call', { name: 'never' }, 'c');
      await arrived;
      bridge.notify('notifications/cancelled', { requestId: 'c', reason: 'enough' });
      expect((await answer).error.message).toBe('cancelled');
      expect(endpoint.seen('notifications/cancelled')[0]?.message.params.reason).toBe('enough');
    });

    test('that cancels what is done or unknown disturbs nobody', async () => {
      const bridge = await startSession();
      const done = await bridge.callTool('echo', {});
      for (const requestId of [done.id, 'nothing']) bridge.notify('notifications/cancelled', { requestId });
      bridge.notify('notifications/cancelled');
      await bridge.callTool('echo', {});
      expect(endpoint.seen('notifications/cancelled')).toEqual([]);
    });

    test('sends a batch, and each message in it is answered', async () => {
      const bridge = await startSession();
      bridge.process.stdin?.write(
        `${JSON.stringify([
          { jsonrpc: '2.0', id: 'b1', method: 'tools/list' },
          { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
          {
            jsonrpc: '2.0',
            id: 'b2',
            method: 'tools/call',
            params: { name: 'echo', arguments: { text: 'b' } },
          },
        ])}\n`,
      );
      expect((await bridge.answerTo('b1')).result.tools).toHaveLength(1);
      expect((await bridge.answerTo('b2')).result.content[0].text).toBe('b');
    });
  });

  describe('a modern client', () => {
    test('needs no session, and each message says in headers what it is', async () => {
      const bridge = start();
      const { result } = await bridge.request('server/discover', { _meta: modernMeta });
      expect(result.supportedVersions).toEqual(['2026-07-28']);
      await bridge.callTool('écho', { text: 'hi' }, modernMeta);
      await bridge.request('resources/read', { uri: 'file:///a b', _meta: modernMeta });
      const [call] = endpoint.seen('tools/call');
      expect(call?.headers).toMatchObject({
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': '=?base64?w6ljaG8=?=',
      });
      expect(call?.headers).not.toHaveProperty('mcp-session-id');
      expect(endpoint.seen('resources/read')[0]?.headers['mcp-name']).toBe('file:///a b');
      expect(endpoint.seen('server/discover')[0]?.headers).not.toHaveProperty('mcp-name');
      expect(endpoint.streams.size).toBe(0);
    });

    test('cancels by the end of its request', async () => {
      const bridge = start();
      const arrived = endpoint.next('exchange');
      bridge.send({ id: 5, method: 'tools/call', params: { name: 'never', _meta: modernMeta } });
      await arrived;
      const aborted = endpoint.next('aborted');
      bridge.notify('notifications/cancelled', { requestId: 5 });
      expect((await aborted).message.id).toBe(5);
      await bridge.callTool('echo', {}, modernMeta);
      expect(bridge.frames.filter(({ id }) => id === 5)).toEqual([]);
      expect(endpoint.seen('notifications/cancelled')).toEqual([]);
    });

    test('may fall back to the handshake in the same process', async () => {
      const bridge = start();
      await bridge.request('server/discover', { _meta: modernMeta });
      await bridge.initialize();
      expect((await bridge.callTool('echo', { text: 'old' })).result.content[0].text).toBe('old');
    });
  });

  describe('a refusal', () => {
    async function refuse(status: number, body: string, method = 'tools/call'): Promise<Frame> {
      endpoint.answers[method] = (_: Frame, exchange: Exchange) => exchange.raw(body, status);
      return start().request(method, { name: 'echo', _meta: modernMeta }, 'r');
    }

    test('that is a JSON-RPC error for this request is passed on as it is', async () => {
      const error = { code: -32020, message: 'header mismatch', data: { a: 1 } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'r', error });
      expect((await refuse(400, body)).error).toEqual(error);
    });

    test('of another form is an error of the call, with code, layer and text', async () => {
      const error = { code: 'BODY_TOO_LARGE', message: 'too large', layer: 'http', retryable: false };
      expect((await refuse(413, JSON.stringify({ error }))).result).toEqual({
        resultType: 'complete',
        ...text('too large\n[code: BODY_TOO_LARGE, layer: http]'),
        isError: true,
      });
      expect((await refuse(502, 'bad gateway')).result.content[0].text).toMatch(/HTTP 502: bad gateway/);
    });

    test('of any other request is a JSON-RPC error', async () => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32603, message: 'closing', data: { code: 'INTERNAL', layer: 'http' } },
      });
      expect((await refuse(500, body, 'tools/list')).error).toEqual({
        code: -32603,
        message: 'closing',
        data: { code: 'INTERNAL', layer: 'http', retryable: false },
      });
    });

    test('of the token is one line that says what to set', async () => {
      await endpoint.stop();
      endpoint = await startEndpoint({ ...way(), token: 'right' });
      const bridge = start({ MCP_API_TOKEN: 'wrong' });
      const { error } = await bridge.initialize();
      expect(error.message).toMatch(/401.*MCP_API_TOKEN.*set/);
      expect(error.data).toMatchObject({ code: 'UNAUTHORIZED', layer: 'http' });
      expect(bridge.stderr.trim().split('\n')).toHaveLength(1);
    });

    test('is also what a web page in the place of an orchestrator gets', async () => {
      endpoint.answers.initialize = (_: Frame, exchange: Exchange) =>
        exchange.raw('<html>\nhi</html>', 200, 'text/html');
      const bridge = start();
      expect((await bridge.initialize()).error.message).toMatch(/text\/html, not MCP.*MCP_API_URL/);
      expect(bridge.noise).toEqual([]);
    });
  });

  test('an answer with line ends passes as one line', async () => {
    endpoint.answers['tools/call'] = ({ id }: Frame, exchange: Exchange) =>
      exchange.raw(
        JSON.stringify({ jsonrpc: '2.0', id, result: text('a\nb') }, null, 2).replaceAll('\n', '\r\n'),
      );
    const bridge = start();
    expect((await bridge.callTool('echo', {}, modernMeta)).result).toEqual(text('a\nb'));
    expect(bridge.noise).toEqual([]);
  });

  test('two hundred calls at once are in flight together, and each gets its own answer', async () => {
    const held: Exchange[] = [];
    endpoint.answers['tools/call'] = ({ params }: Frame, exchange: Exchange) => {
      held.push(exchange);
      if (held.length < 200) return;
      for (const one of held.reverse()) one.result(text(one.message.params.arguments.text));
      expect(params.name).toBe('echo');
    };
    const bridge = await startSession();
    const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`);
    const answers = await Promise.all(texts.map((value) => bridge.callTool('echo', { text: value })));
    expect(answers.map(({ result }) => result.content[0].text)).toEqual(texts);
  });

  test('MCP_TOOL_TIMEOUT ends a call with an error and aborts its request', async () => {
    const bridge = await startSession({ MCP_TOOL_TIMEOUT: '80ms' });
    const aborted = endpoint.next('aborted');
    const { result } = await bridge.callTool('never');
    expect(result.content[0].text).toMatch(/MCP_TOOL_TIMEOUT.*\[code: CALL_TIMEOUT, layer: bridge\]/s);
    expect((await aborted).message.method).toBe('tools/call');
  });

  test('MCP_READY_FILE is written with the first list', async () => {
    const path = inFolder('ready');
    const bridge = await startSession({ MCP_READY_FILE: path });
    await expect(stat(path)).rejects.toThrow('ENOENT');
    await bridge.request('tools/list');
    await eventually('the file is there', () => stat(path).catch(() => undefined));
  });
});

describe('on the machine of the orchestrator', () => {
  /** As an orchestrator leaves its home: token and socket. */
  async function startAtHome(): Promise<void> {
    endpoint = await startEndpoint({ token: 'own-token', home: inFolder('home') });
    await writeFile(inFolder('home/token'), 'own-token\n');
  }

  test('the token and the socket are found without being told', async () => {
    await startAtHome();
    const bridge = await startSession();
    await bridge.callTool('echo', {});
    const [call] = endpoint.seen('tools/call');
    expect(call?.headers.host).toBe('localhost');
    expect(call?.request.socket.remoteAddress).toBeUndefined();
  });

  test('a socket that nobody listens on is passed by for TCP', async () => {
    await startAtHome();
    const { port } = endpoint;
    await endpoint.stop();
    await writeFile(inFolder(`home/${port}.sock`), '');
    endpoint = await startEndpoint({ token: 'own-token', port });
    const bridge = await startSession();
    await bridge.callTool('echo', {});
    expect(endpoint.seen('tools/call')[0]?.request.socket.remoteAddress).toBe('127.0.0.1');
    expect(bridge.stderr).toBe('');
  });

  test('a socket that comes after TCP is taken from then on', async () => {
    endpoint = await startEndpoint();
    const bridge = start();
    await bridge.callTool('echo', {}, modernMeta);
    const late = await startEndpoint({ socket: inFolder(`home/${endpoint.port}.sock`) });
    await bridge.callTool('echo', {}, modernMeta);
    expect(late.seen('tools/call')[0]?.request.socket.remoteAddress).toBeUndefined();
    await late.stop();
  });

  test('the token of this user goes to no other machine', async () => {
    await startAtHome();
    const { port } = endpoint;
    const bridge = start({ MCP_API_URL: `http://0.0.0.0:${port}` });
    expect((await bridge.initialize()).error.message).toMatch(/wants a token and none is set/);
  });
});
