import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { nearestHint } from '@mcpbridge/shared/tool-names.js';
import { type ToolResult, textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';
import type { ProviderCall } from '../provider.js';
import { declarationOf } from './declaration.js';
import type { SpecifiedTool } from './get-api-spec.js';

/** What the three tools need of the catalog and of the road of calls. */
export interface Finding {
  tools(sessionId: string): readonly SpecifiedTool[];
  /** Best first. */
  search(sessionId: string, query: string, limit: number): readonly SpecifiedTool[];
  /** Its tools are called from code. */
  isCode(sessionId: string): boolean;
  /** As any call of that session: checked, recorded, with the same listener. */
  call(name: string, args: unknown, call: ProviderCall): Promise<ToolResult>;
}

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;

/** For catalogs of thousands: a model finds a tool, reads how it is called, and calls it. */
export function finders(finding: Finding): FunctionTool[] {
  return [searchTools(finding), describeTool(finding), callTool(finding)];
}

function searchTools({ search, isCode }: Finding): FunctionTool {
  return {
    definition: {
      name: 'search_tools',
      title: 'Search tools',
      description:
        'Finds tools by what they do. Answers names with what each does and takes, best first; call one with call_tool, or in the code of run_code.',
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'A few words of what is to be done' },
          limit: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, description: 'Default: 10' },
        },
        required: ['query'],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    run({ args: { query, limit = DEFAULT_LIMIT }, caller }) {
      const found = search(caller.sessionId, String(query), Number(limit)).filter(isOther);
      if (found.length === 0) return textResult(`No tool fits ${JSON.stringify(query)}; try other words.`);
      const line = isCode(caller.sessionId) ? codeLineOf : lineOf;
      return textResult(found.map(line).join('\n'));
    },
  };
}

function describeTool({ tools }: Finding): FunctionTool {
  return {
    definition: {
      name: 'describe_tool',
      title: 'Describe a tool',
      description: 'Tells all of one tool: its description and the JSON Schema of its arguments.',
      inputSchema: {
        type: 'object',
        properties: { name: { type: 'string', description: 'As search_tools gave it' } },
        required: ['name'],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    run({ args, caller }) {
      const all = tools(caller.sessionId);
      const name = String(args.name);
      const tool = all.find((candidate) => candidate.name === name);
      if (!tool) throw unknown(name, all);
      return textResult(JSON.stringify({ ...tool.definition, name }, null, 2));
    },
  };
}

function callTool({ tools, call }: Finding): FunctionTool {
  return {
    definition: {
      name: 'call_tool',
      title: 'Call a tool',
      description:
        'Calls a tool that search_tools found, with its own arguments, and answers what it answers.',
      inputSchema: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'As search_tools gave it' },
          arguments: { type: 'object', description: 'As describe_tool tells' },
        },
        required: ['name'],
      },
    },
    run(outer) {
      const name = String(outer.args.name);
      if (!isOther({ name })) throw unknown(name, tools(outer.caller.sessionId).filter(isOther));
      return call(name, outer.args.arguments, outer);
    },
  };
}

const FINDERS = new Set(['search_tools', 'describe_tool', 'call_tool', 'run_code']);

function isOther({ name }: { name: string }): boolean {
  return !FINDERS.has(name);
}

/** `github__create_issue(title, body?): Creates an issue` */
function lineOf({ name, definition: { description = '', inputSchema } }: SpecifiedTool): string {
  return `${name}(${parametersOf(inputSchema)}): ${description.split('\n')[0]}`;
}

/** `tools.github__create_issue(args: { title: string; body?: string }): Creates an issue` */
function codeLineOf({ name, definition: { description = '', inputSchema } }: SpecifiedTool): string {
  return `${declarationOf(name, inputSchema)}: ${description.split('\n')[0]}`;
}

function parametersOf({ properties, required }: JsonObject): string {
  const must = Array.isArray(required) ? required : [];
  return Object.keys(isObject(properties) ? properties : {})
    .map((name) => (must.includes(name) ? name : `${name}?`))
    .join(', ');
}

function unknown(name: string, all: readonly SpecifiedTool[]): AppError {
  const names = all.map((tool) => tool.name);
  return new AppError('UNKNOWN_TOOL', `There is no tool "${name}".${nearestHint(name, names)}`);
}
