import { createRequire } from 'node:module';
import { type BridgeConfig, type BridgeToolEntry, bridgeConfig } from 'mcpbridge/client-config.js';
import type { PrivateFolder } from './private-folder.js';
import type { ServedSession } from './served-session.js';
import type { SessionTool } from './session-tool.js';

interface EntryOptions {
  session: ServedSession;
  url: string;
  folder: PrivateFolder;
  instructions: string | undefined;
}

/** The client's entry: every tool that the session has, the token in a file of this user alone. */
export function bridgeEntry({ session, url, folder, instructions }: EntryOptions): BridgeConfig {
  const env: Record<string, string> = {
    MCP_API_URL: url,
    MCP_API_TOKEN_FILE: folder.write('token', session.token),
    MCP_SESSION_ID: session.id,
  };
  if (instructions) env.MCP_INSTRUCTIONS_FILE = folder.write('instructions.txt', instructions);
  return bridgeConfig({ bridge: builtBridge(), env, tools: session.tools.map(entryOf), folder: folder.path });
}

function entryOf({ definition, type, server }: SessionTool): BridgeToolEntry {
  const { inputSchema, ...rest } = definition;
  return { ...rest, input_schema: inputSchema, server, type };
}

function builtBridge(): string {
  return createRequire(import.meta.url).resolve('mcpbridge/mcpbridge.cjs');
}
