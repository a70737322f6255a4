import { isObject } from './json-rpc.js';
import type { ToolDefinition } from './tools.js';

/** One entry of `MCP_TOOLS` (DESIGN.md section 3). */
export interface BridgeTool {
  definition: ToolDefinition;
  type: 'mcp' | 'custom' | 'virtual';
  /** The server's id; empty for custom and virtual tools. */
  server: string;
}

/** A list that cannot be used; the message says what is wrong with which entry and what to do. */
export class BridgeToolsError extends Error {}

/**
 * Reads the JSON of `MCP_TOOLS`. A missing schema is an empty object, an unknown type is custom, fields that MCP
 * tools have (`title`, `annotations`, `outputSchema`, `icons`, `_meta` …) stay.
 */
export function parseBridgeTools(json: string, source = 'MCP_TOOLS'): BridgeTool[] {
  const entries = parseArray(json, source);
  const seen = new Set<string>();
  return entries.map((entry, index) => {
    const tool = readEntry(entry, index, source);
    const { name } = tool.definition;
    if (seen.has(name)) {
      throw new BridgeToolsError(`${source} has two tools named "${name}": give each its own name.`);
    }
    seen.add(name);
    return tool;
  });
}

function parseArray(json: string, source: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new BridgeToolsError(
      `${source} is not JSON: ${(error as Error).message}. Set it to an array of tools, or unset it to discover them.`,
    );
  }
  if (!Array.isArray(value)) {
    throw new BridgeToolsError(`${source} must be a JSON array of tools. Unset it to discover them.`);
  }
  return value;
}

function readEntry(entry: unknown, index: number, source: string): BridgeTool {
  if (!isObject(entry))
    throw new BridgeToolsError(`${source}[${index}] is not an object: write {"name": …}.`);
  const { name, description, input_schema, inputSchema, server, type, ...rest } = entry;
  if (typeof name !== 'string' || name === '') {
    throw new BridgeToolsError(
      `${source}[${index}] has no "name": give it the name that the model shall see.`,
    );
  }
  const kind = type === 'mcp' || type === 'virtual' ? type : 'custom';
  if (kind === 'mcp' && (typeof server !== 'string' || server === '')) {
    throw new BridgeToolsError(
      `${source}[${index}] ("${name}") is of type "mcp" without a "server": name the server it belongs to.`,
    );
  }
  const schema = input_schema ?? inputSchema;
  const definition: ToolDefinition = {
    ...rest,
    name,
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: isObject(schema) ? schema : { type: 'object', properties: {} },
  };
  return { definition, type: kind, server: typeof server === 'string' ? server : '' };
}
