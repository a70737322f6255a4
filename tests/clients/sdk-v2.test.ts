import { expect } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describeClient } from './support/describe-client.js';

const versions = { auto: '2026-07-28', legacy: '2025-11-25' } as const;

for (const mode of ['auto', 'legacy'] as const) {
  describeClient(`SDK v2 client, ${mode}`, async ({ entry, tool, args }) => {
    const client = new Client({ name: 'sdk-v2', version: '1.0.0' }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(entry));
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe(versions[mode]);
      const { tools } = await client.listTools();
      const { content } = await client.callTool({ name: tool, arguments: args });
      return {
        tools: tools.map(({ name }) => name),
        text: content[0]?.type === 'text' ? content[0].text : '',
      };
    } finally {
      await client.close();
    }
  });
}
