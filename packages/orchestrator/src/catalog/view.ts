import { READ_IMAGE } from '@mcpbridge/shared/platform-tools.js';
import type { CatalogMode } from '@mcpbridge/shared/policy.js';
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

/** What decides which of the tools that a session may use are listed for it. */
export interface ListingPolicy {
  catalog: CatalogMode;
  rules: { names(tool: string): boolean } | undefined;
  limits?: { resultBytes?: number };
}

/** The tools that one session sees, or all that see the same; never changed, only replaced. */
export class CatalogView {
  /** Sorted by name. */
  readonly tools: readonly CatalogTool[];
  private usual: readonly CatalogTool[] | undefined;
  private readonly lists = new WeakMap<readonly CatalogTool[], readonly ToolDefinition[]>();
  private readonly byName = new Map<string, CatalogTool>();
  private readonly byProvider = new Map<string, CatalogTool[]>();

  constructor(
    providers: Iterable<ToolProvider>,
    listOf: (provider: ToolProvider) => readonly ToolDefinition[],
    /** Names are given before it is asked, so a tool has the same name in every view. */
    allows: (tool: CatalogTool) => boolean = () => true,
  ) {
    for (const provider of [...providers].sort((a, b) => compare(a.id, b.id))) {
      const named = listOf(provider).map((definition) => this.admit(provider, definition));
      this.byProvider.set(provider.id, named.filter(allows));
      for (const tool of named) if (!allows(tool)) this.byName.delete(tool.name);
    }
    this.tools = [...this.byName.values()].sort((a, b) => compare(a.name, b.name));
  }

  /**
   * What clients are shown. The finders stand in the place of all other tools or not at all; some of our own are only
   * for sessions that can need them: somebody must be there to answer, or a limit that cuts results.
   */
  shown({ catalog, rules, limits }: ListingPolicy): readonly CatalogTool[] {
    if (catalog !== 'all') {
      const finders = catalog === 'search' ? FINDERS : CODERS;
      return this.tools.filter((tool) => isOurs(tool, finders) || isOwn(tool));
    }
    const isCut = limits?.resultBytes !== undefined;
    if (!isCut && !rules && this.usual) return this.usual;
    const isWanted = (tool: CatalogTool) =>
      isOurs(tool, ON_REQUEST) || isReadImage(tool)
        ? (rules?.names(tool.name) ?? false) || (isCut && isOurs(tool, READERS))
        : !isOurs(tool, FINDERS) && !isOurs(tool, CODERS);
    const shown = this.tools.filter(isWanted);
    if (!isCut && !rules) this.usual = shown;
    return shown;
  }

  /** What `shown` gives, as it is listed; the same array for as long as that is the same. */
  listed(policy: ListingPolicy): readonly ToolDefinition[] {
    const shown = this.shown(policy);
    const known = this.lists.get(shown);
    if (known) return known;
    const list = shown.map((tool) => tool.exposed);
    this.lists.set(shown, list);
    return list;
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

/** Listed where the session's rules allow them by their very names; callable wherever they are allowed. */
const READERS = new Set(['read_large_output', 'search_large_output']);
const ON_REQUEST = new Set(['human_feedback', 'get_prompt', 'get_resource', ...READERS]);
const FINDERS = new Set(['search_tools', 'describe_tool', 'call_tool']);
const CODERS = new Set(['search_tools', 'describe_tool', 'run_code']);

/** Registered for the session alone: it has to be listed, since nobody would look for it. */
function isOwn({ definition, provider }: CatalogTool): boolean {
  return provider.kind === 'custom' && !provider.listed?.tools.includes(definition);
}

function isReadImage({ name, provider }: CatalogTool): boolean {
  return provider.kind === 'custom' && name === READ_IMAGE.name;
}

function isOurs({ name, provider }: CatalogTool, names: ReadonlySet<string>): boolean {
  return provider.kind === 'virtual' && names.has(name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
