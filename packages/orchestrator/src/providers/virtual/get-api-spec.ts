import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { platformTool } from '@mcpbridge/shared/platform-tools.js';
import { nearestHint } from '@mcpbridge/shared/tool-names.js';
import { type ToolDefinition, textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';
import type { ToolProvider } from '../provider.js';

/** A tool with the name it is listed under. */
export interface SpecifiedTool {
  name: string;
  provider: ToolProvider;
  definition: ToolDefinition;
}

/** For catalogs too large to hand over whole: the model reads a tool's spec, then calls it with curl (MISSION row 8). */
export function getApiSpec(tools: (sessionId: string) => readonly SpecifiedTool[]): FunctionTool {
  return {
    definition: platformTool('get_api_spec'),
    run({ args, caller }) {
      const all = tools(caller.sessionId);
      const found = namesOf(args.tool_name).map((name) => specOf(name, all));
      return textResult(
        ['# every call: curl --fail-with-body -sS --json ARGUMENTS -H "$MCP_AUTH" ADDRESS', ...found].join(
          '\n\n',
        ),
      );
    },
  };
}

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

function specOf(name: string, all: readonly SpecifiedTool[]): string {
  const tool =
    all.find((candidate) => candidate.name === name) ??
    all.find((candidate) => candidate.definition.name === name);
  if (!tool) {
    throw new AppError(
      'UNKNOWN_TOOL',
      `There is no tool "${name}".${nearestHint(
        name,
        all.map((candidate) => candidate.name),
      )}`,
    );
  }
  const { description = '', inputSchema } = tool.definition;
  const lines = [
    `POST ${addressOf(tool)}`,
    ...description.split('\n').map((line) => `  # ${line}`),
    ...parameters(inputSchema),
  ];
  return lines.join('\n');
}

function addressOf({ provider, definition: { name } }: SpecifiedTool): string {
  const tool = encodeURIComponent(name);
  if (provider.kind === 'mcp') return `$MCP_MCP/${encodeURIComponent(provider.id)}/${tool}`;
  return provider.kind === 'virtual' ? `$MCP_VIRTUAL/${tool}` : `$MCP_CUSTOM/${tool}`;
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
