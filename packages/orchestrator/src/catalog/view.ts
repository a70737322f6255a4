import { exposedName, withHash } from '@mcpbridge/shared/tool-names.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { ToolProvider } from '../providers/provider.js';

/** One tool as sessions see it. */
export interface CatalogTool {
  /** The name under which it is listed; unique in its view. */
  name: string;
  provider: ToolProvider;
  /** As the provider gave it, with the provider's own name. */
  definition: ToolDefinition;
  /** As it is listed: the same with `name` exchanged. */
  exposed: ToolDefinition;
}

/** The tools that one session sees, or all that see the same; never changed, only replaced. */
export class CatalogView {
  /** Sorted by name. */
  readonly tools: readonly CatalogTool[];
  private readonly byName = new Map<string, CatalogTool>();
  private readonly byProvider = new Map<string, CatalogTool[]>();

  constructor(
    providers: Iterable<ToolProvider>,
    listOf: (provider: ToolProvider) => readonly ToolDefinition[],
  ) {
    for (const provider of [...providers].sort((a, b) => compare(a.id, b.id))) {
      this.byProvider.set(
        provider.id,
        listOf(provider).map((definition) => this.admit(provider, definition)),
      );
    }
    this.tools = [...this.byName.values()].sort((a, b) => compare(a.name, b.name));
  }

  tool(name: string): CatalogTool | undefined {
    return this.byName.get(name);
  }

  /** In the provider's own order. */
  toolsOf(providerId: string): readonly CatalogTool[] {
    return this.byProvider.get(providerId) ?? [];
  }

  /** By the provider's own name, or by the listed one: models put both together all the time. */
  find(providerId: string, tool: string): CatalogTool | undefined {
    return this.toolsOf(providerId).find((own) => own.definition.name === tool || own.name === tool);
  }

  names(): Iterable<string> {
    return this.byName.keys();
  }

  private admit(provider: ToolProvider, definition: ToolDefinition): CatalogTool {
    const name = this.freeName(provider, definition.name);
    const tool = { name, provider, definition, exposed: { ...definition, name } };
    this.byName.set(name, tool);
    return tool;
  }

  /** Our own tools keep their names, upstream ones are qualified; who would take a name that is taken gets a hash. */
  private freeName(provider: ToolProvider, tool: string): string {
    const name = provider.kind === 'mcp' ? exposedName(provider.id, tool) : tool;
    return this.byName.has(name) ? withHash(name, provider.id, tool) : name;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
