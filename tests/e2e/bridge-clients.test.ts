import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type RunningExecutor, startExecutor } from '../fixtures/executor.mjs';
import { type RunningEndpoint, startEndpoint } from '../fixtures/mcp-endpoint.mjs';
import { bridgeFile, plainEnv } from '../support/processes.js';
import { toolList } from '../support/spawned-bridge.js';

type Negotiation = NonNullable<ConstructorParameters<typeof ModernClient>[1]>['versionNegotiation'];

let executor: RunningExecutor;
let endpoint: RunningEndpoint;

beforeEach(async () => {
  executor = await startExecutor();
  endpoint = await startEndpoint();
});
afterEach(() => Promise.all([executor.stop(), endpoint.stop()]));

const INFO = { name: 'test', version: '1.0.0' };
const modes = () => ({
  listed: { MCP_API_URL: executor.url, MCP_TOOLS: toolList('echo', 'old.failure') },
  transparent: { MCP_API_URL: endpoint.url },
});

function server(mode: 'listed' | 'transparent') {
  const env: Record<string, string> = { MCPBRIDGE_HOME: '/nonexistent', ...modes()[mode] };
  for (const [name, value] of Object.entries(plainEnv())) if (value !== undefined) env[name] = value;
  return { command: process.execPath, args: [bridgeFile], env };
}

describe.each(['listed', 'transparent'] as const)('in %s mode', (mode) => {
  test('the client of SDK v1 lists and calls', async () => {
    const client = new Client(INFO);
    await client.connect(new StdioClientTransport(server(mode)));
    await client.ping().catch(() => undefined);
    expect((await client.listTools()).tools[0]?.name).toBe('echo');
    const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
    expect(content).toEqual([{ type: 'text', text: 'hi' }]);
    await client.close();
  });

  const negotiations: [string, Negotiation, string][] = [
    ['legacy', { mode: 'legacy' }, '2025-11-25'],
    ['auto', { mode: 'auto' }, '2026-07-28'],
    ['pinned to 2026-07-28', { mode: { pin: '2026-07-28' } }, '2026-07-28'],
  ];
  test.each(negotiations)(
    'the client of SDK v2, %s, lists and calls',
    async (_, versionNegotiation, version) => {
      const client = new ModernClient(INFO, { versionNegotiation });
      await client.connect(new ModernTransport(server(mode)));
      expect(client.getNegotiatedProtocolVersion()).toBe(version);
      expect((await client.listTools()).tools[0]?.name).toBe('echo');
      const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
      expect(content).toEqual([{ type: 'text', text: 'hi' }]);
      await client.close();
    },
  );
});

test('the client of SDK v2 sees a failed call as a result with its text', async () => {
  const client = new ModernClient(INFO, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new ModernTransport(server('listed')));
  const result = await client.callTool({ name: 'old.failure', arguments: {} });
  expect(result.isError).toBe(true);
  expect(result.content[0]).toMatchObject({ text: expect.stringMatching(/disk full/) });
  await client.close();
});
