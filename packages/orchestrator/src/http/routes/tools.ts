import { createHash } from 'node:crypto';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { nearestHint } from '@mcpbridge/shared/tool-names.js';
import type { Catalog } from '../../catalog/catalog.js';
import type { CatalogTool } from '../../catalog/view.js';
import type { PlainRoute, RouteInput, RouteReply } from '../routes.js';

/** The catalog for scripts: each entry is the tool whole, and can stand in `MCP_TOOLS` as it is. */
export function toolRoutes(catalog: Catalog): PlainRoute[] {
  const list = async ({ query, sessionId }: RouteInput): Promise<RouteReply> => {
    await catalog.settled();
    const wanted = (tool: CatalogTool) =>
      (!query.server || tool.provider.id === query.server) && (!query.type || typeOf(tool) === query.type);
    const tools = catalog.view(sessionId).tools.filter(wanted).map(entryOf);
    return { body: { tools }, etag: etagOf(tools) };
  };
  const one = ({ params: { name = '' }, sessionId }: RouteInput): RouteReply => {
    const view = catalog.view(sessionId);
    const tool = view.tool(name);
    if (tool) return { body: entryOf(tool) };
    throw new AppError('UNKNOWN_TOOL', `There is no tool "${name}".${nearestHint(name, view.names())}`);
  };
  return [
    {
      method: 'GET',
      path: '/api/tools',
      summary: 'All tools, flat, with whole schemas',
      query: { server: 'only this server', type: 'only mcp, custom or virtual' },
      run: list,
    },
    { method: 'GET', path: '/api/tools/{name}', summary: 'One tool by its listed name', run: one },
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
