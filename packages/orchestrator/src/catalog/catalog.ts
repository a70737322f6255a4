import { AppError } from '@mcpbridge/shared/errors.js';
import { nearestHint } from '@mcpbridge/shared/tool-names.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { ToolProvider } from '../providers/provider.js';
import { type CatalogTool, CatalogView } from './view.js';

/** What a call names: a provider's tool, or a listed name. */
export type Target = { server: string; tool: string } | { name: string };

type Listener = () => void;

/** A listing waits this long for servers that are just being listed for the first time. */
const FIRST_LISTING_MS = 1000;

/** All providers, and what each session sees of their tools: one view behind listing, specs and calls. */
export class Catalog {
  private readonly providers = new Map<string, ToolProvider>();
  /** Lists of an earlier run, shown until the provider has listed its own. */
  private readonly earlier = new Map<string, readonly ToolDefinition[]>();
  /** Servers of the configuration that cannot be used, with the reason. */
  private readonly unusable = new Map<string, string>();
  private readonly firstListings = new Map<string, { since: number; done: Promise<void> }>();
  private readonly listeners = new Set<Listener>();
  /** Sessions that some provider shows other tools than the rest. */
  private readonly special = new Set<string>();
  private readonly specialViews = new Map<string, CatalogView>();
  private commonView: CatalogView | undefined;
  /** Grows with every change. */
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

  /** What a session sees; without one, what a session sees that nothing special was shown to. */
  view(sessionId?: string): CatalogView {
    if (sessionId === undefined || !this.special.has(sessionId)) {
      this.commonView ??= new CatalogView(this.providers.values(), (provider) => this.listOf(provider));
      return this.commonView;
    }
    let view = this.specialViews.get(sessionId);
    if (!view) {
      const listOf = (provider: ToolProvider) =>
        provider.listedFor(sessionId)?.tools ?? this.listOf(provider);
      view = new CatalogView(this.providers.values(), listOf);
      this.specialViews.set(sessionId, view);
    }
    return view;
  }

  /** Some list is another now: that of one session, or of all. Tells who listens. */
  changed(sessionId?: string): void {
    this.commonView = undefined;
    this.specialViews.clear();
    if (sessionId !== undefined) this.special.add(sessionId);
    this.version += 1;
    for (const listener of this.listeners) listener();
  }

  forgetSession(sessionId: string): void {
    this.special.delete(sessionId);
    this.specialViews.delete(sessionId);
  }

  onChange(listener: Listener): void {
    this.listeners.add(listener);
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

  /** @throws UNKNOWN_TOOL, UNKNOWN_SERVER (both with the nearest names), PROVIDER_UNAVAILABLE */
  resolve(target: Target, sessionId: string): CatalogTool | Promise<CatalogTool> {
    const view = this.view(sessionId);
    if ('name' in target) {
      const found = view.tool(target.name);
      if (found) return found;
      const hint = nearestHint(target.name, view.names());
      throw new AppError('UNKNOWN_TOOL', `There is no tool "${target.name}".${hint}`);
    }
    const provider = this.providerOf(target.server);
    return view.find(provider.id, target.tool) ?? this.findAfterListing(provider, target.tool, sessionId);
  }

  private listOf(provider: ToolProvider): readonly ToolDefinition[] {
    return provider.listed?.tools ?? this.earlier.get(provider.id) ?? [];
  }

  private providerOf(id: string): ToolProvider {
    const provider = this.providers.get(id);
    if (provider) return provider;
    const reason = this.unusable.get(id);
    if (reason === undefined) {
      const hint = nearestHint(id, this.providers.keys());
      throw new AppError('UNKNOWN_SERVER', `There is no server "${id}".${hint}`);
    }
    throw new AppError('PROVIDER_UNAVAILABLE', `Server "${id}" cannot be used: ${reason}`, {
      retryable: false,
    });
  }

  /** A server that has never listed its tools is asked now. */
  private async findAfterListing(
    provider: ToolProvider,
    tool: string,
    sessionId: string,
  ): Promise<CatalogTool> {
    if (!provider.listed) {
      await provider.refresh();
      this.changed();
    }
    const found = this.view(sessionId).find(provider.id, tool);
    if (found) return found;
    const { tools = [], rejected = [] } = provider.listed ?? {};
    const broken = rejected.find((entry) => entry.name === tool);
    if (broken) {
      throw new AppError(
        'UNKNOWN_TOOL',
        `The tool "${tool}" of "${provider.id}" is set aside: ${broken.reason}`,
      );
    }
    const whose = provider.kind === 'mcp' ? `Server "${provider.id}" has no` : `There is no ${provider.kind}`;
    const hint = nearestHint(
      tool,
      tools.map((known) => known.name),
    );
    throw new AppError('UNKNOWN_TOOL', `${whose} tool "${tool}".${hint}`);
  }
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
