import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseBridgeTools } from '@mcpbridge/shared/bridge-tools.js';

/** One entry of `MCP_TOOLS` as it is written. */
export interface BridgeToolEntry {
  name: string;
  description?: string;
  input_schema?: object;
  inputSchema?: object;
  server?: string;
  type?: 'mcp' | 'custom' | 'virtual';
  [field: string]: unknown;
}

export interface BridgeConfigOptions {
  /** Path of `mcpbridge.cjs`. */
  bridge: string;
  /** `MCP_API_URL`, `MCP_API_TOKEN_FILE`, `MCP_SESSION_ID` … */
  env?: Record<string, string>;
  /** The list for listed mode; without it the bridge discovers. */
  tools?: readonly BridgeToolEntry[];
  /** For the file of a list that is too long for a variable; it must last as long as the client. */
  folder?: string;
}

/** What goes under the bridge's name in a client's `mcpServers`. */
export interface BridgeConfig {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** Linux refuses to start a process with a variable of 128 KiB; this leaves room for the escapes of others. */
const VARIABLE_LIMIT = 120 * 1024;

/**
 * Writes a client's entry. Clients expand `$NAME`, `${NAME}` and `{env:NAME}` in it; the list of tools is written
 * so that there is nothing to expand. Throws BridgeToolsError when the bridge would refuse the list.
 */
export function bridgeConfig(options: BridgeConfigOptions): BridgeConfig {
  const { bridge, env = {}, tools } = options;
  const config = { command: process.execPath, args: [bridge], env: { ...env } };
  if (!tools) return config;
  const json = unexpandable(JSON.stringify(tools));
  parseBridgeTools(json, 'The list of tools');
  if (Buffer.byteLength(json) < VARIABLE_LIMIT) config.env.MCP_TOOLS = json;
  else config.env.MCP_TOOLS_FILE = writeList(json, options.folder);
  return config;
}

/** `$` stands in JSON only within strings, `{` also as structure, where `"` or `}` follows and nothing is expanded. */
function unexpandable(json: string): string {
  return json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"/g, (text) =>
    text.replaceAll('$', '\\u0024').replaceAll('{', '\\u007b'),
  );
}

function writeList(json: string, folder: string | undefined): string {
  const path = join(mkdtempSync(join(folder ?? tmpdir(), 'mcpbridge-tools-')), 'tools.json');
  writeFileSync(path, json, { mode: 0o600 });
  return path;
}
