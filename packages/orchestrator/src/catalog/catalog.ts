import { AppError } from '@mcpbridge/shared/errors.js';
import { exposedName, nearestHint, withHash } from '@mcpbridge/shared/tool-names.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { ToolProvider } from '../providers/provider.js';

/** One tool as sessions see it. */
export interface CatalogTool {
  /** The name under which it is listed; unique in the catalog. */
  name: string;
  provider: ToolProvider;
  /** As the provider gave it, with the provider's own name. */
  definition: ToolDefinition;
  /** As it is listed: the same with `name` exchanged. */
  exposed: ToolDefinition;
}

/** What a call names: a provider's tool, or a listed name. */
export type Target = { server: string; tool: string } | { name: string };

type Listener = () => void;

/** A listing waits this long for servers that are just being listed for the first time. */
const FIRST_LISTING_MS = 1000;

/** The tools that a session may see: the one list behind listing, specs and calls. */
export class Catalog {
  private readonly providers = new Map<string, ToolProvider>();
  /** Lists of an earlier run, shown until the provider has listed its own. */
  private readonly earlier = new Map<string, readonly ToolDefinition[]>();
  /** Servers of the configuration that cannot be used, with the reason. */
  private readonly unusable = new Map<string, string>();
  private readonly firstListings = new Map<string, { since: number; done: Promise<void> }>();
  private readonly listeners = new Set<Listener>();
  private cached: Map<string, CatalogTool> | undefined;
  /** Grows with every change; answers made from the catalog can be kept under it. */
  version = 1;

  add(provider: ToolProvider, earlier?: readonly ToolDefinition[]): void {
    this.providers.set(provider.id, provider);
    this.unusable.delete(provider.id);
    if (earlier) this.earlier.set(provider.id, earlier);
    this.changed();
  }

  remove(id: string): void {
    this.earlier.delete(id);
    this.firstListings.delete(id);
    this.unusable.delete(id);
    if (this.providers.delete(id)) this.changed();
  }

  setUnusable(id: string, reason: string): void {
    this.unusable.set(id, reason);
  }

  provider(id: string): ToolProvider | undefined {
    return this.providers.get(id);
  }

  allProviders(): ToolProvider[] {
    return [...this.providers.values()];
  }

  /** Tells who listens that some list is another now. */
  changed(): void {
    this.cached = undefined;
    this.version += 1;
    for (const listener of this.listeners) listener();
  }

  onChange(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Lists a provider anew; what it cannot tell stays as it was. */
  refresh(provider: ToolProvider): Promise<void> {
    const done = provider.refresh().then(
      () => this.changed(),
      () => undefined, // the provider's health says why
    );
    if (!provider.listed && !this.firstListings.has(provider.id)) {
      this.firstListings.set(provider.id, { since: Date.now(), done });
    }
    return done.finally(() => this.firstListings.delete(provider.id));
  }

  /** Waits for first listings that began just now, so that a client of the first second sees them; never for a slow server. */
  async settled(): Promise<void> {
    const pending = [...this.firstListings.values()];
    await Promise.all(pending.map(({ since, done }) => within(done, since + FIRST_LISTING_MS - Date.now())));
  }

  /** All tools, sorted by name. */
  tools(): CatalogTool[] {
    return [...this.byName().values()];
  }

  tool(name: string): CatalogTool | undefined {
    return this.byName().get(name);
  }

  /** @throws UNKNOWN_TOOL, UNKNOWN_SERVER (both with the nearest names), PROVIDER_UNAVAILABLE */
  resolve(target: Target): CatalogTool | Promise<CatalogTool> {
    if ('name' in target) {
      const found = this.tool(target.name);
      if (found) return found;
      throw new AppError(
        'UNKNOWN_TOOL',
        `There is no tool "${target.name}".${nearestHint(target.name, this.byName().keys())}`,
      );
    }
    const provider = this.providerOf(target.server);
    return this.find(provider, target.tool) ?? this.findAfterListing(provider, target.tool);
  }

  private providerOf(id: string): ToolProvider {
    const provider = this.providers.get(id);
    if (provider) return provider;
    const reason = this.unusable.get(id);
    if (reason)
      throw new AppError('PROVIDER_UNAVAILABLE', `Server "${id}" cannot be used: ${reason}`, {
        retryable: false,
      });
    throw new AppError(
      'UNKNOWN_SERVER',
      `There is no server "${id}".${nearestHint(id, this.providers.keys())}`,
    );
  }

  private find(provider: ToolProvider, tool: string): CatalogTool | undefined {
    for (const candidate of this.toolsOf(provider.id)) {
      // A listed name is understood too: models put both together all the time.
      if (candidate.definition.name === tool || candidate.name === tool) return candidate;
    }
    return undefined;
  }

  /** A server that has never listed its tools is asked now; one that has, once more only if it is not ready. */
  private async findAfterListing(provider: ToolProvider, tool: string): Promise<CatalogTool> {
    if (!provider.listed) {
      await provider.refresh();
      this.changed();
    }
    const found = this.find(provider, tool);
    if (found) return found;
    const rejected = provider.listed?.rejected.find((entry) => entry.name === tool);
    if (rejected)
      throw new AppError(
        'UNKNOWN_TOOL',
        `The tool "${tool}" of "${provider.id}" is set aside: ${rejected.reason}`,
      );
    const names = (provider.listed?.tools ?? []).map((entry) => entry.name);
    const whose = provider.kind === 'mcp' ? `Server "${provider.id}" has` : `There is`;
    throw new AppError(
      'UNKNOWN_TOOL',
      `${whose} no ${provider.kind} tool "${tool}".${nearestHint(tool, names)}`,
    );
  }

  private byName(): Map<string, CatalogTool> {
    this.cached ??= this.build();
    return this.cached;
  }

  private toolsByProvider: Map<string, CatalogTool[]> = new Map();

  toolsOf(providerId: string): readonly CatalogTool[] {
    this.byName();
    return this.toolsByProvider.get(providerId) ?? [];
  }

  private build(): Map<string, CatalogTool> {
    const named = new Map<string, CatalogTool>();
    this.toolsByProvider = new Map();
    for (const provider of [...this.providers.values()].sort((a, b) => compare(a.id, b.id))) {
      const own: CatalogTool[] = [];
      for (const definition of provider.listed?.tools ?? this.earlier.get(provider.id) ?? []) {
        const name = freeName(named, provider, definition.name);
        const tool = { name, provider, definition, exposed: { ...definition, name } };
        named.set(name, tool);
        own.push(tool);
      }
      this.toolsByProvider.set(provider.id, own);
    }
    return new Map([...named].sort(([a], [b]) => compare(a, b)));
  }
}

/** Our own tools keep their names, upstream ones are qualified; who would take a name that is taken gets a hash. */
function freeName(taken: Map<string, CatalogTool>, provider: ToolProvider, tool: string): string {
  const name = provider.kind === 'mcp' ? exposedName(provider.id, tool) : tool;
  return taken.has(name) ? withHash(name, provider.id, tool) : name;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function within(promise: Promise<void>, ms: number): Promise<void> {
  if (ms <= 0) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
