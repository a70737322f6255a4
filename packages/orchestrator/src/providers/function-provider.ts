import { AppError } from '@mcpbridge/shared/errors.js';
import type { ToolDefinition, ToolResult } from '@mcpbridge/shared/tools.js';
import type { Health, ProviderCall, ProviderKind, ToolList, ToolProvider } from './provider.js';

/** A tool of our own: its definition, and the function that carries it out. */
export interface FunctionTool {
  definition: ToolDefinition;
  run(call: ProviderCall): Promise<ToolResult> | ToolResult;
}

/** Tools that are functions of this process, given as records. */
export class FunctionProvider implements ToolProvider {
  readonly listed: ToolList;
  readonly health: Health = { state: 'ready' };
  private readonly tools: ReadonlyMap<string, FunctionTool>;
  /** Of single sessions, by their ids. */
  private readonly own = new Map<string, ReadonlyMap<string, FunctionTool>>();

  constructor(
    readonly id: string,
    readonly kind: ProviderKind,
    tools: readonly FunctionTool[],
  ) {
    this.tools = byName(tools);
    this.listed = { tools: tools.map((tool) => tool.definition), rejected: [] };
  }

  /** Tools for that session alone, in the place of those it had. */
  setOwn(sessionId: string, tools: readonly FunctionTool[]): void {
    if (tools.length > 0) this.own.set(sessionId, byName(tools));
    else this.own.delete(sessionId);
  }

  listedFor(sessionId: string): ToolList {
    const own = this.own.get(sessionId);
    if (!own) return this.listed;
    return {
      tools: [...this.listed.tools, ...[...own.values()].map((tool) => tool.definition)],
      rejected: [],
    };
  }

  async refresh(): Promise<ToolList> {
    return this.listed;
  }

  async call(call: ProviderCall): Promise<ToolResult> {
    const tool = this.own.get(call.caller.sessionId)?.get(call.tool) ?? this.tools.get(call.tool);
    if (!tool) throw new AppError('UNKNOWN_TOOL', `There is no ${this.kind} tool "${call.tool}".`);
    return tool.run(call);
  }

  async endSession(sessionId: string): Promise<void> {
    this.own.delete(sessionId);
  }

  async close(): Promise<void> {}
}

function byName(tools: readonly FunctionTool[]): Map<string, FunctionTool> {
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}
