import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { parseConfig, type ServerMap } from './config-file.js';

/** Where clients keep their servers for all projects, below a person's home; those that write JSON. */
const PLACES: [client: string, file: string][] = [
  ['Claude Code', '.claude.json'],
  ['Claude Desktop', '.config/Claude/claude_desktop_config.json'],
  ['Claude Desktop', 'Library/Application Support/Claude/claude_desktop_config.json'],
  ['Cursor', '.cursor/mcp.json'],
  ['VS Code', '.config/Code/User/mcp.json'],
  ['VS Code', 'Library/Application Support/Code/User/mcp.json'],
  ['Gemini CLI', '.gemini/settings.json'],
  ['Copilot CLI', '.copilot/mcp-config.json'],
  ['Windsurf', '.codeium/windsurf/mcp_config.json'],
];
const OUR_BRIDGE = /mcpbridge/;

export interface ClientFile {
  client: string;
  file: string;
  /** As they are written there, with their secrets. */
  servers: ServerMap;
}

/** The servers of the clients of this machine. The bridge to us is none of them. */
export async function clientFiles(home: string): Promise<ClientFile[]> {
  const found = await Promise.all(
    PLACES.map(async ([client, place]): Promise<ClientFile> => {
      const file = join(home, place);
      return { client, file, servers: await serversIn(file) };
    }),
  );
  return found.filter(({ servers }) => servers.size > 0);
}

async function serversIn(file: string): Promise<ServerMap> {
  const text = await readFile(file, 'utf8').catch(() => ''); // Most clients are not there.
  if (text === '') return new Map();
  const content = parseConfig(text, file);
  if (typeof content === 'string') return new Map();
  return new Map([...content.servers].filter(([, entry]) => isObject(entry) && !isBridge(entry)));
}

const isBridge = ({ command, args }: Record<string, unknown>): boolean =>
  [command, ...(Array.isArray(args) ? args : [])].some(
    (word) => typeof word === 'string' && OUR_BRIDGE.test(word),
  );
