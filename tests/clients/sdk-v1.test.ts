import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { describeClient } from './support/describe-client.js';

describeClient('SDK v1 client', async ({ entry, tool, args }) => {
  const client = new Client({ name: 'sdk-v1', version: '1.0.0' });
  await client.connect(new StdioClientTransport(entry));
  try {
    const { tools } = await client.listTools();
    const { content } = CallToolResultSchema.parse(await client.callTool({ name: tool, arguments: args }));
    return { tools: tools.map(({ name }) => name), text: content[0]?.type === 'text' ? content[0].text : '' };
  } finally {
    await client.close();
  }
});
