import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseBridgeTools } from '@mcpbridge/shared/bridge-tools.js';
import { bridgeConfig } from 'mcpbridge/client-config.js';

const bridge = '/opt/mcpbridge.cjs';
const tricky = {
  name: 'find',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what clients would expand
  description: 'costs $5, or ${HOME}, {env:HOME}, \\$x, "$y", {file:/etc/passwd} and \\{',
  input_schema: { $schema: 'x', $defs: { '${a}': { $ref: '#/$defs/b' } }, properties: { '{': {} } },
};

test('the entry starts the bridge with this Node and the given environment', () => {
  const env = { MCP_API_URL: 'http://127.0.0.1:8080' };
  expect(bridgeConfig({ bridge, env })).toEqual({ command: process.execPath, args: [bridge], env });
});

test('in the list nothing is left that a client would expand, and the bridge reads the same tools', () => {
  const { MCP_TOOLS = '' } = bridgeConfig({ bridge, tools: [tricky] }).env;
  expect(MCP_TOOLS).not.toContain('$');
  expect(MCP_TOOLS).not.toMatch(/\{[^"}]/);
  expect(JSON.parse(MCP_TOOLS)).toEqual([tricky]);
  expect(parseBridgeTools(MCP_TOOLS)[0]?.definition.inputSchema).toEqual(tricky.input_schema);
});

test('a list near 128 KiB goes to a file for this user alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcpbridge-test-'));
  const tools = [{ name: 'long', description: 'é'.repeat(62_000) }];
  const { env } = bridgeConfig({ bridge, tools, folder });
  expect(env).not.toHaveProperty('MCP_TOOLS');
  const path = env.MCP_TOOLS_FILE ?? '';
  expect(path.startsWith(folder)).toBe(true);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(tools);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await rm(folder, { recursive: true });
});

test('a list that the bridge would refuse is refused', () => {
  const tools = [{ name: 'a' }, { name: 'a' }];
  expect(() => bridgeConfig({ bridge, tools })).toThrow('two tools named "a"');
});
