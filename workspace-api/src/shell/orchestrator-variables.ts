import type { Guard } from '@mcpbridge/shared/folder-guard.js';

/** What `get_api_spec` tells models to call tools with, for a command that may reach the orchestrator. */
export function orchestratorVariables(
  address: string | undefined,
  { sessionId, env }: Guard,
): Record<string, string> {
  if (address === undefined) return {};
  const api = `${address}/api`;
  return {
    MCP_API_URL: api,
    MCP_SESSION_ID: sessionId,
    MCP_MCP: `${api}/tools/mcp`,
    MCP_CUSTOM: `${api}/tools/custom`,
    MCP_VIRTUAL: `${api}/tools/virtual`,
    ...(env.MCP_API_TOKEN === undefined ? {} : { MCP_AUTH: `Authorization: Bearer ${env.MCP_API_TOKEN}` }),
  };
}
