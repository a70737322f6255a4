import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { modernHeaders, modernMeta, postMcp } from '../support/api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator({ servers: { bare: bareServer, other: bareServer } });
});
afterAll(() => running.stop());

const initialize = (id: number | string = 0, protocolVersion = '2025-11-25') => ({
  id,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
});

async function legacyClient(path = '/mcp'): Promise<Record<string, string>> {
  const { headers } = await postMcp(running, initialize(), {}, path);
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
}

const callEcho = (name: string, id: number | string = 1) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: { text: 'hello' } },
});

const resultOf = ({ messages }: Awaited<ReturnType<typeof postMcp>>) =>
  messages[0]?.result as Record<string, unknown>;
const errorOf = ({ messages }: Awaited<ReturnType<typeof postMcp>>) =>
  messages[0]?.error as Record<string, unknown>;

describe('/mcp', () => {
  verifies('mcp.both-eras', async () => {
    const client = await legacyClient();
    const legacy = await postMcp(running, callEcho('bare__echo'), client);
    expect(resultOf(legacy)).toEqual({ content: [{ type: 'text', text: 'hello' }] });

    const request = callEcho('bare__echo', 'm1');
    const params = { ...request.params, _meta: modernMeta };
    const modern = await postMcp(running, { ...request, params }, modernHeaders('tools/call', 'bare__echo'));
    expect(modern.headers.get('mcp-session-id')).toBeNull();
    expect(resultOf(modern)).toMatchObject({
      resultType: 'complete',
      content: [{ type: 'text', text: 'hello' }],
    });

    const discover = await postMcp(
      running,
      { id: 1, method: 'server/discover', params: { _meta: modernMeta } },
      modernHeaders('server/discover'),
    );
    expect(resultOf(discover)).toMatchObject({ supportedVersions: ['2026-07-28'], cacheScope: 'private' });
  });

  verifies('mcp.one-server', async () => {
    const client = await legacyClient('/mcp/bare');
    const listed = await postMcp(running, { id: 1, method: 'tools/list' }, client, '/mcp/bare');
    const names = (resultOf(listed).tools as { name: string }[]).map((tool) => tool.name);
    expect(names).toEqual(['echo', 'big', 'slow']);
    const called = await postMcp(running, callEcho('echo'), client, '/mcp/bare');
    expect(resultOf(called)).toEqual({ content: [{ type: 'text', text: 'hello' }] });
    const elsewhere = await postMcp(running, callEcho('echo'), client, '/mcp');
    expect(elsewhere.status).toBe(404);
  });

  verifies('mcp.headers', async () => {
    const request = {
      ...callEcho('bare__echo'),
      params: { ...callEcho('bare__echo').params, _meta: modernMeta },
    };
    const right = modernHeaders('tools/call', 'bare__echo');
    const wrong = [
      { ...right, 'mcp-method': 'tools/list' },
      { ...right, 'mcp-name': 'other__echo' },
      { ...right, 'mcp-protocol-version': '2025-11-25' },
      modernHeaders('tools/call'),
    ];
    for (const headers of wrong) {
      const answer = await postMcp(running, request, headers);
      expect([answer.status, errorOf(answer).code]).toEqual([400, -32020]);
    }
    const encoded = { ...right, 'mcp-name': `=?base64?${Buffer.from('bare__echo').toString('base64')}?=` };
    expect((await postMcp(running, request, encoded)).status).toBe(200);
  });

  verifies('mcp.modern-errors', async () => {
    const old = { ...modernMeta, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' };
    const version = await postMcp(
      running,
      { id: 1, method: 'tools/list', params: { _meta: old } },
      {
        'mcp-protocol-version': '2031-01-01',
      },
    );
    expect([version.status, errorOf(version).code]).toEqual([400, -32022]);
    expect(errorOf(version).data).toEqual({ supported: ['2026-07-28'], requested: '2031-01-01' });

    const unknown = { id: 1, method: 'tools/invent', params: { _meta: modernMeta } };
    const method = await postMcp(running, unknown, modernHeaders('tools/invent'));
    expect([method.status, errorOf(method).code]).toEqual([404, -32601]);

    const bare = { id: 1, method: 'tools/list', params: { _meta: { ...modernMeta } } };
    Reflect.deleteProperty(bare.params._meta, 'io.modelcontextprotocol/clientCapabilities');
    const meta = await postMcp(running, bare, modernHeaders('tools/list'));
    expect([meta.status, errorOf(meta).code]).toEqual([400, -32602]);
  });

  test('every legacy version is answered in kind, an unknown one with the latest', async () => {
    for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
      expect(resultOf(await postMcp(running, initialize(1, version))).protocolVersion).toBe(version);
    }
    expect(resultOf(await postMcp(running, initialize(1, '1999-01-01'))).protocolVersion).toBe('2025-11-25');
  });

  test('a request without a session, with a strange one, or after DELETE gets one sentence and the status that clients act on', async () => {
    const without = await postMcp(running, callEcho('bare__echo'));
    expect([without.status, errorOf(without).message]).toEqual([
      400,
      expect.stringContaining('send initialize first'),
    ]);
    const strange = await postMcp(running, callEcho('bare__echo'), { 'mcp-session-id': 'nobody' });
    expect([strange.status, errorOf(strange).message]).toEqual([
      404,
      expect.stringContaining('initialize again'),
    ]);
    const client = await legacyClient();
    const ended = await fetch(`${running.url}/mcp`, {
      method: 'DELETE',
      headers: { ...running.headers(), ...client },
    });
    expect(ended.status).toBe(204);
    expect((await postMcp(running, callEcho('bare__echo'), client)).status).toBe(404);
  });

  test('a failed call is an isError result with code and layer, an unknown method a JSON-RPC error', async () => {
    const client = await legacyClient();
    const unknown = resultOf(await postMcp(running, callEcho('bare__ecko'), client));
    expect(unknown).toMatchObject({ isError: true, _meta: { 'mcpbridge/error': { code: 'UNKNOWN_TOOL' } } });
    expect((unknown.content as { text: string }[])[0]?.text).toBe(
      'There is no tool "bare__ecko". Nearest: "bare__echo", "bare__big", "bare__slow".\n[code: UNKNOWN_TOOL, layer: catalog]',
    );
    const method = await postMcp(running, { id: 5, method: 'tools/invent' }, client);
    expect([method.status, errorOf(method).code, method.messages[0]?.id]).toEqual([200, -32601, 5]);
  });

  test('a body that is no JSON-RPC message is refused with the fitting code', async () => {
    const post = async (body: string) => {
      const headers = { ...running.headers(), 'content-type': 'application/json' };
      const response = await fetch(`${running.url}/mcp`, { method: 'POST', headers, body });
      const { error, id } = (await response.json()) as { error: { code: number }; id: unknown };
      return [response.status, error.code, id];
    };
    expect(await post('{"jsonrpc":')).toEqual([400, -32700, null]);
    expect(await post('[]')).toEqual([400, -32600, null]);
    expect(await post('{"id":1,"method":"ping"}')).toEqual([400, -32600, null]);
  });

  test('a client of 2025-03-26 may send several messages at once, others may not', async () => {
    const { headers } = await postMcp(running, initialize(0, '2025-03-26'));
    const session = { ...running.headers(), 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
    const messages = [
      { jsonrpc: '2.0', ...callEcho('bare__echo', 'a') },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', ...callEcho('bare__none', 'b') },
    ];
    const send = (accept: string, more: object = {}) =>
      fetch(`${running.url}/mcp`, {
        method: 'POST',
        headers: { ...session, 'content-type': 'application/json', accept, ...more },
        body: JSON.stringify(messages),
      });
    const isRight = (answers: { id: string; result: { isError?: boolean } }[]) =>
      expect(answers.map(({ id, result }) => [id, result.isError ?? false]).sort()).toEqual([
        ['a', false],
        ['b', true],
      ]);
    isRight((await (await send('application/json')).json()) as never);
    const streamed = await (await send('application/json, text/event-stream')).text();
    isRight(streamed.match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice(6))) as never);

    const refused = await send('application/json', await legacyClient());
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('2025-03-26 alone'),
    ]);
  });
});
