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

  constructor(
    readonly id: string,
    readonly kind: ProviderKind,
    tools: readonly FunctionTool[],
  ) {
    this.tools = new Map(tools.map((tool) => [tool.definition.name, tool]));
    this.listed = { tools: tools.map((tool) => tool.definition), rejected: [] };
  }

  listedFor(): ToolList {
    return this.listed;
  }

  async refresh(): Promise<ToolList> {
    return this.listed;
  }

  async call(call: ProviderCall): Promise<ToolResult> {
    const tool = this.tools.get(call.tool);
    if (!tool) throw new AppError('UNKNOWN_TOOL', `There is no ${this.kind} tool "${call.tool}".`);
    return tool.run(call);
  }

  async endSession(): Promise<void> {}

  async close(): Promise<void> {}
}
