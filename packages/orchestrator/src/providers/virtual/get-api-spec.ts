import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { platformTool } from '@mcpbridge/shared/platform-tools.js';
import { type ToolDefinition, textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';
import type { ToolProvider } from '../provider.js';

/** A tool with the name it is listed under. */
export interface SpecifiedTool {
  name: string;
  provider: ToolProvider;
  definition: ToolDefinition;
}

/** What the spec needs of the catalog. */
export interface Specified {
  /** What the session sees. */
  tools(sessionId: string): readonly SpecifiedTool[];
  /** As a call finds it; rejects as a call would: unknown, not allowed, or its server down and why. */
  find(name: string, sessionId: string): Promise<SpecifiedTool> | SpecifiedTool;
}

/** For catalogs too large to hand over whole: the model reads a tool's spec, then calls it with curl (MISSION row 8). */
export function getApiSpec(catalog: Specified): FunctionTool {
  return {
    definition: platformTool('get_api_spec'),
    async run({ args, caller: { sessionId } }) {
      const all = catalog.tools(sessionId);
      const named = (name: string) =>
        all.find((candidate) => candidate.name === name) ??
        all.find((candidate) => candidate.definition.name === name) ??
        catalog.find(name, sessionId);
      const found = await Promise.all(namesOf(args.tool_name).map(named));
      if (args.format === 'openapi') return textResult(JSON.stringify(openApiOf(found), null, 2));
      return textResult([HOW_TO_CALL, ...found.map(specOf)].join('\n\n'));
    },
  };
}

const HOW_TO_CALL = '# every call: curl --fail-with-body -sS --json ARGUMENTS -H "$MCP_AUTH" ADDRESS';

/** One name, several, or a JSON array in a string: models send all three. */
function namesOf(given: unknown): string[] {
  if (Array.isArray(given)) return given.map(String);
  const text = String(given).trim();
  if (!text.startsWith('[')) return [text];
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed.map(String) : [text];
  } catch {
    // Not a list after all; it is looked up as it stands and reported as unknown.
    return [text];
  }
}

function specOf(tool: SpecifiedTool): string {
  const { description = '', inputSchema } = tool.definition;
  const lines = [
    `POST ${addressOf(tool)}`,
    ...description.split('\n').map((line) => `  # ${line}`),
    ...parameters(inputSchema),
  ];
  return lines.join('\n');
}

function addressOf(tool: SpecifiedTool): string {
  return `$MCP_${kindOf(tool).toUpperCase()}/${pathOf(tool)}`;
}

/** In the addresses of calls. */
function kindOf({ provider: { kind } }: SpecifiedTool): 'mcp' | 'virtual' | 'custom' {
  return kind === 'workspace' ? 'custom' : kind;
}

/** Below the address of all tools of its kind. */
function pathOf({ provider, definition: { name } }: SpecifiedTool): string {
  const tool = encodeURIComponent(name);
  return provider.kind === 'mcp' ? `${encodeURIComponent(provider.id)}/${tool}` : tool;
}

/** The same as an OpenAPI 3.1 document: whole schemas, for programs that make clients of it. */
function openApiOf(tools: readonly SpecifiedTool[]): JsonObject {
  const paths = tools.map((tool) => [`/tools/${kindOf(tool)}/${pathOf(tool)}`, { post: operationOf(tool) }]);
  return {
    openapi: '3.1.0',
    info: { title: 'Tools of this session', version: '1' },
    servers: [{ url: '$MCP_API_URL' }],
    paths: Object.fromEntries(paths),
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
  };
}

/** What it refers to in itself is found in itself, not in the document. */
function asRoot(schema: unknown, name: string): unknown {
  return isObject(schema) && schema.$id === undefined && JSON.stringify(schema).includes('"$ref":"#')
    ? { $id: `urn:tool:${name}`, ...schema }
    : schema;
}

function operationOf({ name, definition }: SpecifiedTool): JsonObject {
  const { title, description, inputSchema, outputSchema } = definition;
  const reply = {
    type: 'object',
    properties: {
      success: { type: 'boolean' },
      result: { type: 'string' },
      content: { type: 'array' },
      ...(outputSchema === undefined ? {} : { structuredContent: asRoot(outputSchema, `${name}/output`) }),
    },
    required: ['success', 'result'],
  };
  return {
    operationId: name,
    ...(title === undefined ? {} : { summary: title }),
    ...(description === undefined ? {} : { description }),
    requestBody: { content: { 'application/json': { schema: asRoot(inputSchema, `${name}/input`) } } },
    responses: {
      200: { description: 'What it answers', content: { 'application/json': { schema: reply } } },
      default: { description: 'It could not be called; error.message says why' },
    },
  };
}

function parameters(schema: JsonObject): string[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, property]) => {
    const about = isObject(property) ? property : {};
    const says = typeof about.description === 'string' ? `  # ${about.description.split('\n')[0]}` : '';
    return `  ${name}: ${typeOf(about)}${required.includes(name) ? ' (required)' : ''}${says}`;
  });
}

/** The short word where there is one; else the schema itself, so that nothing is lost. */
function typeOf(schema: JsonObject): string {
  const { description, title, default: fallback, ...rest } = schema;
  if (typeof rest.type === 'string' && Object.keys(rest).length === 1) return rest.type;
  return JSON.stringify(rest);
}
