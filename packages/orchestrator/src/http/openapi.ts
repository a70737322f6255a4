import { ERROR_TABLE } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { VERSION } from '../version.js';
import type { PlainRoute, RouteDescription } from './routes.js';

/** `described`: every route, this one included, once it is asked for. */
export function openApiRoute(described: readonly RouteDescription[]): PlainRoute {
  return {
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This description',
    open: true,
    run: () => ({ body: openApiDocument(described) }),
  };
}

/** The OpenAPI 3.1 document, made from the records of the routes that run. */
function openApiDocument(routes: readonly RouteDescription[]): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = (paths[route.path.replaceAll('{*', '{')] ??= {});
    path[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'mcpbridge orchestrator', version: VERSION },
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema },
    },
    security: [{ token: [] }],
  };
}

function operation(route: RouteDescription): JsonObject {
  const { path, summary, body, query = {}, open, forSessions, forKeys } = route;
  const inPath = [...path.matchAll(/\{\*?(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }));
  return {
    summary,
    operationId: `${route.method.toLowerCase()}${path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`,
    ...(inPath.length + inQuery.length > 0 ? { parameters: [...inPath, ...inQuery] } : {}),
    ...(body ? { requestBody: { content: { 'application/json': { schema: body } } } } : {}),
    ...(open ? { security: [] } : {}),
    ...(forSessions ? { 'x-session-token': true } : {}),
    ...(forSessions || forKeys ? { 'x-any-key': true } : {}),
    responses: {
      200: { description: 'Done', content: { 'application/json': { schema: {} } } },
      default: {
        description: 'Not done; the error says why',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

const errorSchema: JsonObject = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message', 'layer', 'retryable'],
      properties: {
        code: { enum: Object.keys(ERROR_TABLE) },
        message: { type: 'string' },
        layer: { type: 'string' },
        retryable: { type: 'boolean' },
        details: {},
      },
    },
  },
};
