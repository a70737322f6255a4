import { AppError } from '@mcpbridge/shared/errors.js';
import { exposedName, exposedPrefix, nearestHint } from '@mcpbridge/shared/tool-names.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { ToolProvider } from '../providers/provider.js';
import type { ToolLock } from './tool-lock.js';
import type { ToolRules } from './tool-rules.js';
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
  /** Of the sessions that may not use everything. */
  private readonly rules = new Map<string, ToolRules>();
  /** By the key of the rules: sessions with equal ones share a view. */
  private readonly ruledViews = new Map<string, CatalogView>();
  private commonView: CatalogView | undefined;
  /** Holds changed tools back, once it is there. */
  lock: ToolLock | undefined;
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
    const rules = sessionId === undefined ? undefined : this.rules.get(sessionId);
    const isSpecial = sessionId !== undefined && this.special.has(sessionId);
    if (!rules && !isSpecial) {
      this.commonView ??= this.create();
      return this.commonView;
    }
    const [views, key] = isSpecial ? [this.specialViews, sessionId] : [this.ruledViews, rules?.key ?? ''];
    let view = views.get(key);
    if (!view) {
      view = this.create(isSpecial ? sessionId : undefined, rules);
      views.set(key, view);
    }
    return view;
  }

  /** What the session may use from now on; undefined: everything. */
  restrict(sessionId: string, rules: ToolRules | undefined): void {
    if (rules?.key === this.rules.get(sessionId)?.key) return;
    if (rules) this.rules.set(sessionId, rules);
    else this.rules.delete(sessionId);
    this.specialViews.delete(sessionId);
    this.tell();
  }

  /** May the session have anything to do with that server? Where rules leave none of its tools, the rest goes too. */
  reaches(sessionId: string, serverId: string): boolean {
    return !this.rules.has(sessionId) || this.view(sessionId).toolsOf(serverId).length > 0;
  }

  /** Some list is another now: that of one session, or of all. Tells who listens. */
  changed(sessionId?: string): void {
    this.commonView = undefined;
    this.specialViews.clear();
    this.ruledViews.clear();
    if (sessionId !== undefined) this.special.add(sessionId);
    this.tell();
  }

  forgetSession(sessionId: string): void {
    this.special.delete(sessionId);
    this.rules.delete(sessionId);
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
      this.refuseIfRuledOut(sessionId, (all) => all.tool(target.name));
      const server = this.silentServerOf(target.name);
      if (server !== undefined) return this.findAfterListing(this.usable(server), target.name, sessionId);
      const hint = nearestHint(target.name, view.names());
      throw new AppError('UNKNOWN_TOOL', `There is no tool "${target.name}".${hint}`);
    }
    const provider = this.usable(target.server);
    return view.find(provider.id, target.tool) ?? this.findAfterListing(provider, target.tool, sessionId);
  }

  /**
   * The server to whose tools a listed name that is not there may belong: one that cannot be used, has never told what it has, or
   * whose tool of that name is not shown. So a server that is down is told apart from a name that nobody has.
   */
  private silentServerOf(name: string): string | undefined {
    const ids = [...this.providers.values()].flatMap((provider) =>
      provider.kind === 'mcp' && this.isSilent(provider, name) ? [provider.id] : [],
    );
    return [...ids, ...this.unusable.keys()].find((id) => name.startsWith(exposedPrefix(id)));
  }

  private isSilent(provider: ToolProvider, name: string): boolean {
    if (!provider.listed) return true;
    const hidden = [
      ...(this.lock?.heldOf(provider.id) ?? []),
      ...provider.listed.rejected.map((one) => one.name),
    ];
    return hidden.some((tool) => tool !== undefined && exposedName(provider.id, tool) === name);
  }

  private create(sessionId?: string, rules?: ToolRules): CatalogView {
    const listOf = (provider: ToolProvider) => {
      const own = sessionId === undefined ? undefined : provider.listedFor(sessionId)?.tools;
      const tools = own ?? this.listOf(provider);
      return provider.kind === 'mcp' && this.lock ? this.lock.admit(provider.id, tools) : tools;
    };
    return new CatalogView(this.providers.values(), listOf, rules && ((tool) => rules.allows(tool)));
  }

  /** A tool that is there for others is told apart from one that is not there. */
  private refuseIfRuledOut(sessionId: string, find: (all: CatalogView) => CatalogTool | undefined): void {
    if (!this.rules.has(sessionId)) return;
    const all = this.special.has(sessionId) ? this.create(sessionId) : this.view();
    const tool = find(all);
    if (tool) throw new AppError('TOOL_NOT_ALLOWED', `This session may not use "${tool.name}".`);
  }

  private tell(): void {
    this.version += 1;
    for (const listener of this.listeners) listener();
  }

  private listOf(provider: ToolProvider): readonly ToolDefinition[] {
    return provider.listed?.tools ?? this.earlier.get(provider.id) ?? [];
  }

  /** @throws UNKNOWN_SERVER with the nearest names, PROVIDER_UNAVAILABLE when the configuration keeps it from use */
  usable(id: string): ToolProvider {
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
    this.refuseIfRuledOut(sessionId, (all) => all.find(provider.id, tool));
    const isCalled = (own: string | undefined) =>
      own !== undefined && (own === tool || exposedName(provider.id, own) === tool);
    if (this.lock?.heldOf(provider.id).some(isCalled)) {
      const sentence = `The tool "${tool}" of "${provider.id}" is not what it was when it was accepted, and is held back until a person accepts it: GET /api/lock.`;
      throw new AppError('TOOL_CHANGED', sentence);
    }
    const { tools = [], rejected = [] } = provider.listed ?? {};
    const broken = rejected.find((entry) => isCalled(entry.name));
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
