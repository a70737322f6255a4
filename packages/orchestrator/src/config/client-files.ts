import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { codexServers, opencodeServers } from './client-dialects.js';
import { parseConfig, type ServerMap } from './config-file.js';

type Read = (text: string, file: string) => ServerMap;

/** Where clients keep their servers for all projects, below a person's home; most write `mcpServers` in JSON. */
const PLACES: [client: string, file: string, read?: Read][] = [
  ['Claude Code', '.claude.json'],
  ['Claude Desktop', '.config/Claude/claude_desktop_config.json'],
  ['Claude Desktop', 'Library/Application Support/Claude/claude_desktop_config.json'],
  ['Codex', '.codex/config.toml', codexServers],
  ['Cursor', '.cursor/mcp.json'],
  ['VS Code', '.config/Code/User/mcp.json'],
  ['VS Code', 'Library/Application Support/Code/User/mcp.json'],
  ['Gemini CLI', '.gemini/settings.json'],
  ['Copilot CLI', '.copilot/mcp-config.json'],
  ['opencode', '.config/opencode/opencode.json', opencodeServers],
  ['opencode', '.config/opencode/opencode.jsonc', opencodeServers],
  ['Windsurf', '.codeium/windsurf/mcp_config.json'],
];
const OUR_BRIDGE = /mcpbridge/;

export interface ClientFile {
  client: string;
  file: string;
  /** With their secrets, in the words of our own configuration. */
  servers: ServerMap;
}

/** The servers of the clients of this machine. The bridge to us is none of them. */
export async function clientFiles(home: string): Promise<ClientFile[]> {
  const found = await Promise.all(
    PLACES.map(async ([client, place, read = mostServers]): Promise<ClientFile> => {
      const file = join(home, place);
      return { client, file, servers: await serversIn(file, read) };
    }),
  );
  return found.filter(({ servers }) => servers.size > 0);
}

async function serversIn(file: string, read: Read): Promise<ServerMap> {
  const text = await readFile(file, 'utf8').catch(() => ''); // Most clients are not there.
  if (text === '') return new Map();
  return new Map([...read(text, file)].filter(([, entry]) => isObject(entry) && !isBridge(entry)));
}

function mostServers(text: string, file: string): ServerMap {
  const content = parseConfig(text, file);
  return typeof content === 'string' ? new Map() : content.servers;
}

const isBridge = ({ command, args }: Record<string, unknown>): boolean =>
  [command, ...(Array.isArray(args) ? args : [])].some(
    (word) => typeof word === 'string' && OUR_BRIDGE.test(word),
  );
