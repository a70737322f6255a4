import { useQuery } from '@tanstack/react-query';
import { request } from '../net/request';

export interface ClientCommand {
  name: string;
  /** What to do with it. */
  where: string;
  text: string;
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** How each client is told of the bridge; on this machine the bridge finds the token by itself. */
export function clientCommands(bridge: string, base: string): ClientCommand[] {
  const entry = { command: 'node', args: [bridge], env: { MCP_API_URL: base } };
  const flag = `MCP_API_URL=${base}`;
  return [
    {
      name: 'Claude Code',
      where: 'run in a terminal',
      text: `claude mcp add --scope user bridge -e ${flag} -- node ${bridge}`,
    },
    {
      name: 'Codex',
      where: 'run in a terminal',
      text: `codex mcp add bridge --env ${flag} -- node ${bridge}`,
    },
    {
      name: 'VS Code',
      where: 'into .vscode/mcp.json',
      text: json({ servers: { bridge: { type: 'stdio', ...entry } } }),
    },
    { name: 'Cursor', where: 'into .cursor/mcp.json', text: json({ mcpServers: { bridge: entry } }) },
    {
      name: 'Gemini CLI',
      where: 'run in a terminal',
      text: `gemini mcp add --scope user --trust -e ${flag} bridge node ${bridge}`,
    },
    {
      name: 'Copilot CLI',
      where: 'run in a terminal',
      text: `copilot mcp add bridge --env ${flag} -- node ${bridge}`,
    },
    {
      name: 'opencode',
      where: 'run in a terminal',
      text: `opencode mcp add bridge --env ${flag} -- node ${bridge}`,
    },
    {
      name: 'curl',
      where: 'run in a terminal',
      text: `curl -sS -H "Authorization: Bearer $(cat ~/.mcpbridge/token)" ${base}/tools`,
    },
  ];
}

export function useClientCommands(): ClientCommand[] {
  const { data } = useQuery({
    queryKey: ['servers'],
    queryFn: () => request<{ bridge_path?: string }>('/api/mcp-config/status'),
    staleTime: 5000,
  });
  return clientCommands(data?.bridge_path ?? '/path/to/mcpbridge.cjs', `${window.location.origin}/api`);
}
