import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DIALECT_NAMES, type DialectName } from '@mcpbridge/shared/dialect-names.js';
import { awkwardSchemas } from '../fixtures/awkward-schemas.mjs';
import { verifies } from '../requirements.js';
import { modernHeaders, modernMeta, postMcp } from '../support/api.js';
import { type ListedTool, refusals } from '../support/dialect-rules.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended, fixture } from '../support/processes.js';
import { startBridge, textOf } from '../support/road.js';
import type { StdioPeer } from '../support/stdio-peer.js';

const spoken = DIALECT_NAMES.filter((name) => name !== 'off') as Exclude<DialectName, 'off'>[];
const awkwardServer = { command: process.execPath, args: [fixture('awkward-server.mjs')] };
const peers: StdioPeer[] = [];
let running: RunningOrchestrator;
let direct: ListedTool[];

beforeAll(async () => {
  running = await startOrchestrator({ servers: { awkward: awkwardServer } });
  direct = await listedBy({ MCP_API_URL: `${running.url}/mcp/awkward` });
});
afterEach(async () => {
  for (const peer of peers.splice(0)) {
    peer.process.kill('SIGKILL');
    await ended(peer.process);
  }
});
afterAll(() => running.stop());

/** The whole list under the server's own names: as it stands in the fixture, if nothing changed it. */
const alone = (env: NodeJS.ProcessEnv = {}) => ({ MCP_API_URL: `${running.url}/mcp/awkward`, ...env });

async function open(env: NodeJS.ProcessEnv, name = 'stdio-peer'): Promise<StdioPeer> {
  const peer = startBridge(running, env);
  peers.push(peer);
  const clientInfo = { name, version: '1.0.0' };
  await peer.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  peer.notify('notifications/initialized');
  return peer;
}

async function listed(peer: StdioPeer): Promise<ListedTool[]> {
  return (await peer.request('tools/list')).result.tools;
}

const listedBy = async (env: NodeJS.ProcessEnv, name?: string) => listed(await open(env, name));

describe.each([
  ['/mcp', {}],
  ['/mcp/{server}', { scope: 'awkward' }],
])('at %s', (_path, { scope }: { scope?: string }) => {
  const env = (dialect: string) => ({ MCP_DIALECT: dialect, ...(scope ? alone() : {}) });

  test.each(spoken)(
    '%s: nothing in the list is refused, and every call arrives as it was made',
    async (dialect) => {
      const peer = await open(env(dialect));
      const tools = await listed(peer);
      // Beside the server's tools there are our own, under their bare names.
      const own = scope ? tools : tools.filter((tool) => tool.name.includes('__'));
      expect(own).toHaveLength(direct.length);
      expect(refusals(dialect, tools)).toEqual([]);
      expect(new Set(tools.map((tool) => tool.name)).size).toBe(tools.length);

      const arrived = await Promise.all(own.map((tool) => argumentsAndName(peer, tool)));
      expect(arrived.map(({ name }) => name).sort()).toEqual(direct.map((tool) => tool.name).sort());
      for (const { sent, args } of arrived) expect(args).toEqual(sent);
    },
  );
});

const toolsIn = ({ messages }: Awaited<ReturnType<typeof postMcp>>) =>
  (messages[0] as { result: { tools: ListedTool[] } }).result.tools;

/** Calls a listed tool with what its own schema takes. */
async function argumentsAndName(peer: StdioPeer, tool: ListedTool) {
  const { valid = [] } = awkwardSchemas[String(tool.title ?? 'plain')] ?? {};
  const sent = valid[0] ?? {};
  const text = textOf(await peer.callTool(tool.name, sent));
  return { sent, ...(JSON.parse(String(text)) as { name: string; args: unknown }) };
}

describe('off', () => {
  verifies('dialect.off', async () => {
    const { tools } = (await import(fixture('awkward-server.mjs'))) as { tools: ListedTool[] };
    expect(direct).toEqual(JSON.parse(JSON.stringify(tools)));
    expect(await listedBy(alone({ MCP_DIALECT: 'off' }), 'gemini-cli-mcp-client')).toEqual(direct);
  });
});

describe('who the client says it is', () => {
  verifies('dialect.by-name', async () => {
    const asked = await listedBy(alone({ MCP_DIALECT: 'gemini' }));
    expect(asked).not.toEqual(direct);
    expect(await listedBy(alone(), 'gemini-cli-mcp-client')).toEqual(asked);
    expect(await listedBy(alone({ MCP_DIALECT: 'claude' }), 'gemini-cli-mcp-client')).not.toEqual(asked);
  });

  test('counts in the modern era too, and its names stand in Mcp-Name', async () => {
    const clientInfo = { name: 'codex-mcp-client', version: '1.0.0' };
    const _meta = { ...modernMeta, 'io.modelcontextprotocol/clientInfo': clientInfo };
    const list = { id: 1, method: 'tools/list', params: { _meta } };
    const answer = await postMcp(running, list, modernHeaders('tools/list'), '/mcp/awkward');
    const tools = toolsIn(answer);
    expect(refusals('openai', tools)).toEqual([]);
    const name = String(tools.find((tool) => tool.name.startsWith('a_name'))?.name);
    const call = { id: 2, method: 'tools/call', params: { name, arguments: { text: 'x' }, _meta } };
    const called = await postMcp(running, call, modernHeaders('tools/call', name), '/mcp/awkward');
    expect(textOf(called.messages[0] as never)).toContain('beyond_every_limit_that_is_known');
  });
});

describe('what is set', () => {
  test('for all in the orchestrator counts for a client that asks for nothing', async () => {
    const other = await startOrchestrator({
      servers: { awkward: awkwardServer },
      env: { MCP_DIALECT: 'openai' },
    });
    const here = await postMcp(other, hello, {}, '/mcp/awkward');
    const session = { 'mcp-session-id': here.headers.get('mcp-session-id') ?? '' };
    const answer = await postMcp(other, { id: 1, method: 'tools/list' }, session, '/mcp/awkward');
    await other.stop();
    expect(toolsIn(answer)).toEqual(await listedBy(alone({ MCP_DIALECT: 'openai' })));
  });

  test('to what is no dialect ends a bridge with one line, and an orchestrator too', async () => {
    const peer = startBridge(running, { MCP_DIALECT: 'latin' });
    expect(await ended(peer.process)).toEqual({ code: 2, signal: null });
    expect(peer.stderr).toBe(
      `mcpbridge: MCP_DIALECT is "latin": set it to one of ${DIALECT_NAMES.join(', ')}.\n`,
    );
    await expect(startOrchestrator({ env: { MCP_DIALECT: 'latin' } })).rejects.toThrow(
      'MCP_DIALECT is "latin"',
    );
  });

  test('to what is no dialect in the header is refused with 400 and the names of all', async () => {
    const { status, messages } = await postMcp(running, hello, { 'x-mcp-dialect': 'latin' });
    expect(status).toBe(400);
    const list = { id: 1, method: 'tools/list', params: { _meta: modernMeta } };
    const modern = await postMcp(running, list, { ...modernHeaders('tools/list'), 'x-mcp-dialect': 'latin' });
    expect([modern.status, modern.messages[0]?.error]).toEqual([400, messages[0]?.error]);
    expect(messages[0]).toMatchObject({ error: { data: { code: 'INVALID_REQUEST' } } });
    expect(JSON.stringify(messages)).toContain(DIALECT_NAMES.join(', '));
  });

  test('leaves a list that an app gave as it is', async () => {
    const inputSchema = awkwardSchemas['a tree']?.schema;
    const MCP_TOOLS = JSON.stringify([{ name: 'with.dot', inputSchema }]);
    const [tool] = await listedBy({ MCP_TOOLS, MCP_DIALECT: 'gemini' });
    expect(tool).toMatchObject({ name: 'with.dot', inputSchema });
  });
});

const hello = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
