import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type RunningExecutor, startExecutor } from '../fixtures/executor.mjs';
import { inFolder, modernMeta, startBridge, toolList } from '../support/spawned-bridge.js';
import type { Frame, StdioPeer } from '../support/stdio-peer.js';
import { WAYS } from '../support/ways.js';

let executor: RunningExecutor;

beforeEach(async () => {
  executor = await startExecutor();
});
afterEach(() => executor.stop());

const start = (env: NodeJS.ProcessEnv) => startBridge({ MCP_API_URL: executor.url, ...env });

/** Calls one tool of a fresh bridge and answers the result. */
async function call(name: string, args?: unknown, env: NodeJS.ProcessEnv = {}): Promise<Frame> {
  const bridge = start({ MCP_TOOLS: toolList(name), ...env });
  return (await bridge.callTool(name, args)).result;
}

describe('without a request', () => {
  const gone = { MCP_API_URL: 'http://127.0.0.1:1', MCP_TOOLS: toolList('echo') };

  test('the handshake, ping and the list are answered while no executor runs', async () => {
    const bridge = start(gone);
    const { result } = await bridge.initialize();
    expect(result.serverInfo.name).toBe('mcpbridge');
    expect(result.capabilities).toEqual({ tools: {} });
    expect((await bridge.request('ping')).result).toEqual({});
    const { result: list } = await bridge.request('tools/list');
    expect(list).toEqual({ tools: [{ name: 'echo', inputSchema: { type: 'object', properties: {} } }] });
  });

  test('the handshake agrees on a version that the client knows, else on the newest', async () => {
    for (const version of ['2024-11-05', '2025-06-18']) {
      expect((await start(gone).initialize({}, version)).result.protocolVersion).toBe(version);
    }
    expect((await start(gone).initialize({}, '1999-01-01')).result.protocolVersion).toBe('2025-11-25');
  });

  test('a modern client discovers and lists without a handshake', async () => {
    const bridge = start(gone);
    const { result } = await bridge.request('server/discover', { _meta: modernMeta });
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      cacheScope: 'private',
    });
    expect(result._meta['io.modelcontextprotocol/serverInfo'].name).toBe('mcpbridge');
    const list = (await bridge.request('tools/list', { _meta: modernMeta })).result;
    expect(list).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
    expect(list.ttlMs).toBeGreaterThan(0);
  });

  test('a version that is not spoken is refused with those that are', async () => {
    const _meta = { ...modernMeta, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' };
    for (const method of ['server/discover', 'tools/list', 'tools/call']) {
      const { error } = await start(gone).request(method, { name: 'echo', _meta });
      expect(error).toMatchObject({
        code: -32022,
        data: { supported: ['2026-07-28'], requested: '2031-01-01' },
      });
    }
  });

  test('an unknown request is answered at once with -32601, an unknown notification not at all', async () => {
    const bridge = start(gone);
    bridge.notify('notifications/roots/list_changed');
    const { error } = await bridge.request('subscriptions/listen', { _meta: modernMeta });
    expect(error.code).toBe(-32601);
    expect(bridge.frames).toHaveLength(1);
  });

  test('fields that tools have beyond the published ones are listed as they are', async () => {
    const entry = {
      name: 'find',
      description: 'Finds',
      inputSchema: { type: 'object', $defs: { a: true } },
      outputSchema: { type: 'object' },
      title: 'Find',
      annotations: { readOnlyHint: true },
      icons: [{ src: 'data:,' }],
      _meta: { a: 1 },
    };
    const { result } = await start({
      MCP_TOOLS: JSON.stringify([{ ...entry, server: 's', type: 'mcp' }]),
    }).request('tools/list');
    expect(result.tools).toEqual([entry]);
  });

  test('an empty list is a list', async () => {
    expect((await start({ MCP_TOOLS: '[]' }).request('tools/list')).result).toEqual({ tools: [] });
  });

  test('no request is made before the first call', async () => {
    const bridge = start({ MCP_TOOLS: toolList('echo') });
    await bridge.initialize();
    await bridge.request('tools/list');
    expect(executor.requests).toEqual([]);
    await bridge.callTool('echo', {});
    expect(executor.requests).toHaveLength(1);
  });
});

describe.each(WAYS)('%s', (_way, way) => {
  beforeEach(async () => {
    await executor.stop();
    executor = await startExecutor(way());
  });

  describe('a call', () => {
    const typed = JSON.stringify([
      { name: 'a/b', type: 'mcp', server: 'my server' },
      { name: 'mine', type: 'custom' },
      { name: 'spec', type: 'virtual' },
      { name: 'odd', type: 'surprise' },
    ]);

    test('goes to the path of its kind, names escaped, below the address as it was given', async () => {
      for (const [suffix, prefix] of [
        ['', ''],
        ['/', ''],
        ['/api', '/api'],
        ['/api//', '/api'],
        ['/s/one', '/s/one'],
      ]) {
        const bridge = start({ MCP_API_URL: executor.url + suffix, MCP_TOOLS: typed });
        executor.requests.length = 0;
        for (const name of ['a/b', 'mine', 'spec', 'odd']) await bridge.callTool(name, {});
        expect(executor.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
          `POST ${prefix}/tools/mcp/my%20server/a%2Fb`,
          `POST ${prefix}/tools/custom/mine`,
          `POST ${prefix}/tools/virtual/spec`,
          `POST ${prefix}/tools/custom/odd`,
        ]);
      }
    });

    test('carries the token, the session, and for virtual tools the scope', async () => {
      const bridge = start({
        MCP_TOOLS: typed,
        MCP_API_TOKEN: 'secret',
        MCP_SESSION_ID: 'work',
        MCP_VIRTUAL_SCOPE_ID: 'work:vt:1',
      });
      await bridge.callTool('mine', {});
      await bridge.callTool('spec', {});
      const [custom, virtual] = executor.requests;
      expect(custom?.headers).toMatchObject({
        authorization: 'Bearer secret',
        'x-session-id': 'work',
        'content-type': 'application/json',
        accept: 'application/vnd.mcp.result+json, application/json',
      });
      expect(custom?.headers).not.toHaveProperty('x-session-lifetime');
      expect(custom?.headers).not.toHaveProperty('x-virtual-scope-id');
      expect(virtual?.headers['x-virtual-scope-id']).toBe('work:vt:1');
    });

    test('without a session gets a fresh one that ends with the connection', async () => {
      const ids = new Set<unknown>();
      for (let run = 0; run < 2; run++) {
        const bridge = start({ MCP_TOOLS: typed });
        await bridge.callTool('mine', {});
        await bridge.callTool('odd', {});
      }
      for (const { headers } of executor.requests) {
        expect(headers['x-session-id']).toMatch(/^bridge-[0-9a-f-]{32,36}$/);
        expect(headers['x-session-lifetime']).toBe('connection');
        ids.add(headers['x-session-id']);
      }
      expect(ids.size).toBe(2);
    });

    test('sends the arguments alone, and an empty object when there are none', async () => {
      const bridge = start({ MCP_TOOLS: typed });
      await bridge.callTool('mine', { ключ: '😀' });
      await bridge.callTool('mine');
      expect(executor.requests.map(({ body }) => body)).toEqual(['{"ключ":"😀"}', '{}']);
    });

    test('of an unknown tool, or with arguments that are no object, fails with the known names', async () => {
      const bridge = start({ MCP_TOOLS: typed });
      const unknown = (await bridge.callTool('mime', {})).result;
      expect(unknown.isError).toBe(true);
      expect(unknown.content[0].text).toMatch(/"mime".*mine.*\[code: UNKNOWN_TOOL, layer: bridge\]/s);
      expect((await bridge.callTool('mine', [1])).result.content[0].text).toMatch(/INVALID_ARGUMENTS/);
      expect(executor.requests).toEqual([]);
    });

    test('is one of two hundred at once, and each gets its own answer', async () => {
      const bridge = start({ MCP_TOOLS: toolList('echo', 'never') });
      for (let held = 0; held < 20; held++)
        bridge.send({ id: `held-${held}`, method: 'tools/call', params: { name: 'never' } });
      const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`);
      const answers = await Promise.all(texts.map((text) => bridge.callTool('echo', { text })));
      expect(answers.map(({ result }) => result.content[0].text)).toEqual(texts);
    });

    test('answers a modern client with a result that says it is complete', async () => {
      const bridge = start({ MCP_TOOLS: toolList('echo') });
      const { result } = await bridge.callTool('echo', { text: 'hi' }, modernMeta);
      expect(result).toEqual({ resultType: 'complete', content: [{ type: 'text', text: 'hi' }] });
      const failed = await bridge.callTool('none', {}, modernMeta);
      expect(failed.result).toMatchObject({ resultType: 'complete', isError: true });
    });
  });

  describe('a reply', () => {
    test('that is an MCP result passes whole', async () => {
      expect(await call('whole')).toEqual({
        content: [{ type: 'text', text: 'text' }],
        structuredContent: { id: 1 },
        _meta: { seen: true },
        futureField: [1],
      });
    });

    test('with line ends and long numbers passes as one line, digits kept', async () => {
      const bridge = start({ MCP_TOOLS: toolList('pretty') });
      let raw = '';
      bridge.process.stdout?.on('data', (chunk) => (raw += chunk));
      const { result } = await bridge.callTool('pretty');
      expect(result.content[0].text).toBe('12345678901234567890');
      expect(raw).toContain('"n": 12345678901234567890');
      expect(bridge.noise).toEqual([]);
    });

    test('of the older shape becomes text and images', async () => {
      expect(await call('old.text')).toEqual({ content: [{ type: 'text', text: 'old text' }] });
      expect(await call('old.image')).toEqual({
        content: [
          { type: 'text', text: 'a picture' },
          { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        ],
      });
    });

    test('of the orchestrator gives its content once', async () => {
      expect(await call('new.reply')).toEqual({
        content: [{ type: 'text', text: 'once' }],
        structuredContent: { a: 1 },
      });
    });

    test('that says it failed is an error with text, code, layer and what came before', async () => {
      const old = await call('old.failure');
      expect(old.isError).toBe(true);
      expect(old.content.map((block: Frame) => block.text)).toEqual([
        'disk full\n[code: TOOL_FAILED, layer: tool]',
        'half of it',
      ]);
      const young = await call('new.failure');
      expect(young).toMatchObject({ isError: true });
      expect(young.content[0].text).toBe('github is down\n[code: PROVIDER_UNAVAILABLE, layer: upstream]');
    });

    test('with an HTTP error is an error with what was said', async () => {
      expect(await call('refused')).toEqual({
        content: [
          { type: 'text', text: 'no such tool; nearest: "echo"\n[code: UNKNOWN_TOOL, layer: catalog]' },
        ],
        isError: true,
      });
      const crash = await call('crash');
      expect(crash.isError).toBe(true);
      expect(crash.content[0].text).toMatch(/HTTP 500: <h1>Internal Server Error<\/h1>/);
    });

    test('of plain text is the text; an empty one says so', async () => {
      expect((await call('plain')).content).toEqual([{ type: 'text', text: 'just text' }]);
      expect((await call('nothing')).content[0].text).toMatch(/no output/);
    });
  });

  describe('a call that does not end', () => {
    async function startNever(
      env: NodeJS.ProcessEnv = {},
    ): Promise<{ bridge: StdioPeer; received: Promise<unknown[]> }> {
      const bridge = start({ MCP_TOOLS: toolList('never', 'echo'), ...env });
      const received = once(executor.events, 'request');
      return { bridge, received };
    }

    test('is aborted at the executor when the client cancels it, and gets no answer', async () => {
      const { bridge, received } = await startNever();
      bridge.send({ id: 7, method: 'tools/call', params: { name: 'never' } });
      await received;
      const aborted = once(executor.events, 'aborted');
      bridge.notify('notifications/cancelled', { requestId: 7 });
      await aborted;
      await bridge.callTool('echo', {});
      expect(bridge.frames.filter(({ id }) => id === 7)).toEqual([]);
    });

    test('is left alone by a cancellation of another, an answered or an unknown id', async () => {
      const { bridge, received } = await startNever();
      bridge.send({ id: 7, method: 'tools/call', params: { name: 'never' } });
      await received;
      const done = await bridge.callTool('echo', {});
      for (const requestId of ['7', done.id, 99, null])
        bridge.notify('notifications/cancelled', { requestId });
      await bridge.callTool('echo', {});
      expect(executor.requests[0]?.aborted).toBe(false);
    });

    test('ends with an error when MCP_TOOL_TIMEOUT is over, and is aborted', async () => {
      const { bridge } = await startNever({ MCP_TOOL_TIMEOUT: '80ms' });
      const aborted = once(executor.events, 'aborted');
      const { result } = await bridge.callTool('never');
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toMatch(
        /0\.08 s \(MCP_TOOL_TIMEOUT\).*\[code: CALL_TIMEOUT, layer: bridge\]/s,
      );
      await aborted;
    });

    test('tells a client that asked for progress every few seconds that it runs', async () => {
      const { bridge } = await startNever();
      bridge.send({ id: 1, method: 'tools/call', params: { name: 'never', _meta: { progressToken: 0 } } });
      bridge.send({ id: 2, method: 'tools/call', params: { name: 'never' } });
      const later = await bridge.waitFor(({ params }) => params?.progress > 3);
      const all = bridge.frames.filter(({ method }) => method === 'notifications/progress');
      expect(all.every(({ params }) => params.progressToken === 0)).toBe(true);
      expect(later.params.progress).toBeGreaterThan(all[0]?.params.progress);
    });
  });
});

test('MCP_TOOLS_FILE holds a list as well', async () => {
  const { writeFile } = await import('node:fs/promises');
  await writeFile(inFolder('tools.json'), toolList('from-file'));
  const { result } = await start({ MCP_TOOLS_FILE: inFolder('tools.json') }).request('tools/list');
  expect(result.tools[0].name).toBe('from-file');
});

test('MCP_READY_FILE is written with the first list, for this user alone', async () => {
  const path = inFolder('ready');
  const bridge = start({ MCP_TOOLS: toolList('echo'), MCP_READY_FILE: path });
  await bridge.initialize();
  await expect(stat(path)).rejects.toThrow('ENOENT');
  await bridge.request('tools/list');
  await bridge.request('ping');
  expect(await readFile(path, 'utf8')).toBe('ready\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('MCP_BRIDGE_LOG is added to, one line an event', async () => {
  const path = inFolder('log');
  for (let run = 0; run < 2; run++) {
    const bridge = start({ MCP_TOOLS: toolList('echo'), MCP_BRIDGE_LOG: path });
    await bridge.callTool('echo', {});
    await bridge.request('ping');
  }
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  expect(lines.filter((line) => line.includes('start'))).toHaveLength(2);
  expect(lines.filter((line) => line.includes('tools/call echo'))).toHaveLength(2);
});

test('a token that is refused is one line that says what to set', async () => {
  await executor.stop();
  executor = await startExecutor({ token: 'right' });
  for (const [env, hint] of [
    [{ MCP_API_TOKEN: 'wrong' }, /refused the token in MCP_API_TOKEN/],
    [{ MCP_API_TOKEN_FILE: inFolder('none') }, /there is none in .*none/],
    [{}, /there is none in .*home\/token/],
  ] as const) {
    const bridge = start({ MCP_TOOLS: toolList('echo'), ...env });
    const { result } = await bridge.callTool('echo', {});
    await bridge.callTool('echo', {});
    expect(result.content[0].text).toMatch(hint);
    expect(result.content[0].text).toMatch(/set MCP_API_TOKEN.*\[code: UNAUTHORIZED, layer: http\]/s);
    expect(bridge.stderr.trim().split('\n')).toHaveLength(1);
  }
});

test('a token file that comes to be, or changes, while the bridge runs is read again', async () => {
  const { writeFile } = await import('node:fs/promises');
  await executor.stop();
  executor = await startExecutor({ token: 'right' });
  const path = inFolder('token');
  const bridge = start({ MCP_TOOLS: toolList('echo'), MCP_API_TOKEN_FILE: path });
  expect((await bridge.callTool('echo', { text: 'a' })).result.isError).toBe(true);
  await writeFile(path, ' right\n');
  expect((await bridge.callTool('echo', { text: 'b' })).result.content[0].text).toBe('b');
});
