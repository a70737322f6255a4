import { afterAll, beforeAll, expect } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { verifies } from '../requirements.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { bridgeFile, plainEnv } from '../support/processes.js';

let running: RunningOrchestrator;
beforeAll(async () => {
  running = await startOrchestrator();
});
afterAll(() => running.stop());

/** The token comes from the file in MCPBRIDGE_HOME, which is the test's own instead of the user's. */
verifies('contract.address-alone', async () => {
  const env = {
    ...plainEnv(),
    MCPBRIDGE_HOME: running.home,
    MCP_API_URL: `http://localhost:${running.port}/api`,
  };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bridgeFile],
    env: env as Record<string, string>,
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain('bare__echo');
  const result = await client.callTool({ name: 'bare__echo', arguments: { text: 'hello' } });
  expect(result.content).toEqual([{ type: 'text', text: 'hello' }]);
  await client.close();
});
