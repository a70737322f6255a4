import { createHash } from 'node:crypto';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { nearestHint } from '@mcpbridge/shared/tool-names.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { ToolSearch } from '../../catalog/search.js';
import type { CatalogTool } from '../../catalog/view.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { PlainRoute, RouteInput, RouteReply } from '../routes.js';

/** The catalog for scripts: each entry is the tool whole, and can stand in `MCP_TOOLS` as it is. */
export function toolRoutes(catalog: Catalog, sessions: Sessions, search: ToolSearch): PlainRoute[] {
  /** What the named session sees, which has to be open for that. */
  const viewOf = async ({ sessionId, principal }: RouteInput) => {
    // The owner sees what there is; others what they may use.
    const own = principal.isAdmin ? undefined : await sessions.ofPrincipal(principal);
    const session = sessionId === undefined ? own : await sessions.enter(principal, sessionId);
    return { view: catalog.view(session?.sessionId), rules: session?.effective.rules };
  };
  const list = async (input: RouteInput): Promise<RouteReply> => {
    const { query } = input;
    await catalog.settled();
    const wanted = (tool: CatalogTool) =>
      (!query.server || tool.provider.id === query.server) && (!query.type || typeOf(tool) === query.type);
    const { view, rules } = await viewOf(input);
    const tools = view.shown({ catalog: 'all', rules }).filter(wanted).map(entryOf);
    return { body: { tools }, etag: etagOf(tools) };
  };
  const one = async (input: RouteInput): Promise<RouteReply> => {
    const { name = '' } = input.params;
    const { view } = await viewOf(input);
    const tool = view.tool(name);
    if (tool) return { body: entryOf(tool) };
    throw new AppError('UNKNOWN_TOOL', `There is no tool "${name}".${nearestHint(name, view.names())}`);
  };
  const find = async (input: RouteInput): Promise<RouteReply> => {
    const { q = '', limit = '20' } = input.query;
    if (q.trim() === '') throw new AppError('INVALID_REQUEST', 'Say what to search for: ?q=words.');
    const { view } = await viewOf(input);
    const found = search.find(view, q, Math.min(Number(limit) || 20, 100));
    return { body: { tools: found.map(entryOf) } };
  };
  return [
    {
      method: 'GET',
      path: '/api/tools',
      summary: 'All tools, flat, with whole schemas',
      forSessions: true,
      query: { server: 'only this server', type: 'only mcp, custom or virtual' },
      run: list,
    },
    {
      method: 'GET',
      path: '/api/tools/search',
      summary: 'Tools by words in name, description and parameters, best first',
      query: { q: 'the words', limit: 'at most so many, default 20' },
      forSessions: true,
      run: find,
    },
    {
      method: 'GET',
      path: '/api/tools/{name}',
      summary: 'One tool by its listed name',
      forSessions: true,
      run: one,
    },
  ];
}

function entryOf(tool: CatalogTool): JsonObject {
  const server = tool.provider.kind === 'mcp' ? tool.provider.id : '';
  return { ...tool.exposed, type: typeOf(tool), server };
}

function typeOf({ provider: { kind } }: CatalogTool): string {
  return kind === 'mcp' || kind === 'virtual' ? kind : 'custom';
}

function etagOf(value: unknown): string {
  return `"${createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)}"`;
}
