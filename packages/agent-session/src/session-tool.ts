import type { BridgeTool } from '@mcpbridge/shared/bridge-tools.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { MAX_EXPOSED_NAME } from '@mcpbridge/shared/tool-names.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import { handlerFailure, handlerResult } from './handler-result.js';
import { toolInput } from './input-schema.js';
import type { Orchestrator } from './orchestrator.js';
import type { AgentTool, ToolContext } from './types.js';

/** A tool of one session: what is listed, and what carries it out. The list for clients is made of these alone. */
export interface SessionTool extends BridgeTool {
  /** Rejects only if the call could not be carried out; a tool's own failure is a result. */
  run(args: JsonObject, context: ToolContext): Promise<ToolResult>;
}

const NAME = new RegExp(`^[A-Za-z0-9_-]{1,${MAX_EXPOSED_NAME}}$`);

/** @throws CONFIG_INVALID when clients could not show it, or nothing could carry it out. */
export function ownTool(tool: AgentTool): SessionTool {
  const { name, description, inputSchema, handler, ...more } = tool;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new AppError(
      'CONFIG_INVALID',
      `The tool name ${JSON.stringify(name)} is not one that every client shows: use 1 to ${MAX_EXPOSED_NAME} letters, digits, "_" and "-".`,
    );
  }
  if (typeof handler !== 'function') {
    throw new AppError('CONFIG_INVALID', `The tool "${name}" has no handler: give a function.`);
  }
  const input = toolInput(name, inputSchema);
  return {
    definition: { ...more, name, description, inputSchema: input.schema },
    type: 'custom',
    server: '',
    async run(args, context) {
      const given = await input.read(args);
      try {
        return handlerResult(await tool.handler(given as Record<string, unknown>, context));
      } catch (thrown) {
        return handlerFailure(thrown);
      }
    },
  };
}

/** A tool that the orchestrator carries out; it checks the arguments as well. */
export function orchestratorTool(tool: BridgeTool, orchestrator: Orchestrator): SessionTool {
  return { ...tool, run: (args, { signal }) => orchestrator.call(addressOf(tool), args, signal) };
}

/** Where the bridge calls it, below `/tools/`. */
export function addressOf({ type, server, definition }: BridgeTool): string {
  const parts = type === 'mcp' ? [type, server, definition.name] : [type, definition.name];
  return parts.map(encodeURIComponent).join('/');
}
