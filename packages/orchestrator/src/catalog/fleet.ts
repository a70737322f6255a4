import { createHash } from 'node:crypto';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { ConfiguredServer, ServerEntry } from '../config/server-entry.js';
import type { Log } from '../log.js';
import { isRelay, type McpRelay, type ToolProvider } from '../providers/provider.js';
import type { Catalog } from './catalog.js';

/** Tool lists of earlier runs, kept under the hash of the configuration that gave them. */
export interface ToolLists {
  get(serverId: string, configHash: string): Promise<readonly ToolDefinition[] | undefined>;
  put(serverId: string, configHash: string, tools: readonly ToolDefinition[]): Promise<void>;
}

interface FleetDeps {
  catalog: Catalog;
  lists: ToolLists;
  create(entry: ServerEntry): McpRelay;
  log: Log;
}

/** What became of one server in a discovery. */
export interface DiscoveryOutcome {
  server: string;
  outcome: 'ok' | 'failed' | 'faulty' | 'disabled';
  tools: number;
  error?: string;
  durationMs: number;
}

/** The upstreams as the configuration wants them: started, exchanged and closed one by one, never all for one. */
export class Fleet {
  private readonly hashes = new Map<string, string>();
  /** Servers that are not in the catalog yet. */
  private readonly bringing = new Map<string, Promise<void>>();
  /** Out of the catalog, but with calls that still run. */
  private readonly retiring = new Set<McpRelay>();
  servers: readonly ConfiguredServer[] = [];
  private entries = new Map<string, ServerEntry>();

  constructor(private readonly deps: FleetDeps) {}

  /** Brings the providers in line with the configuration; a server whose entry is as before is not touched. */
  async apply(servers: readonly ConfiguredServer[]): Promise<void> {
    this.servers = servers;
    const usable = servers.flatMap((server) => (server.state === 'usable' ? [server.entry] : []));
    this.entries = new Map(usable.map((entry) => [entry.id, entry]));
    const wanted = new Map(servers.map((server) => [server.id, server]));
    for (const id of this.hashes.keys()) if (wanted.get(id)?.state !== 'usable') this.drop(id);
    await Promise.all(servers.map((server) => this.bring(server)));
  }

  entry(id: string): ServerEntry | undefined {
    return this.entries.get(id);
  }

  /** Lists one server anew and says how it went; rejects never. */
  async discover(server: ConfiguredServer): Promise<DiscoveryOutcome> {
    const started = performance.now();
    const outcome = (rest: Omit<DiscoveryOutcome, 'server' | 'durationMs'>): DiscoveryOutcome => ({
      server: server.id,
      ...rest,
      durationMs: Math.round(performance.now() - started),
    });
    if (server.state === 'faulty')
      return outcome({ outcome: 'faulty', tools: 0, error: server.faults.join(' ') });
    const provider = this.deps.catalog.provider(server.id);
    if (server.state === 'disabled' || !provider) return outcome({ outcome: 'disabled', tools: 0 });
    await this.list(provider);
    const tools = provider.listed?.tools.length ?? 0;
    const { health } = provider;
    return health.state === 'failed'
      ? outcome({ outcome: 'failed', tools, error: health.reason })
      : outcome({ outcome: 'ok', tools });
  }

  /** Ends its connections; its calls fail until it is started. @throws UNKNOWN_SERVER, PROVIDER_UNAVAILABLE */
  async stop(id: string): Promise<void> {
    await this.relay(id).stop();
  }

  /** Rejects never for a server that fails: its health says why. @throws UNKNOWN_SERVER, PROVIDER_UNAVAILABLE */
  async start(id: string): Promise<void> {
    await this.relay(id)
      .start()
      .catch(() => undefined);
    this.deps.catalog.changed();
  }

  /** There are new credentials: it is tried at once, where it has to be. */
  async signedIn(id: string, owner: string | undefined): Promise<void> {
    const relay = this.relay(id);
    await relay.changeCredentials(owner);
    if (owner === undefined || !relay.listed) await this.start(id);
  }

  /** What carries credentials that were given back takes no more calls. */
  async signedOut(id: string, owner: string | undefined): Promise<void> {
    await this.relay(id).changeCredentials(owner);
    this.deps.catalog.changed();
  }

  /** Ends those too that still let calls finish. */
  async close(): Promise<void> {
    await Promise.all([...this.retiring].map((provider) => provider.close()));
  }

  private relay(id: string): McpRelay {
    const provider = this.deps.catalog.usable(id);
    if (isRelay(provider)) return provider;
    throw new AppError('UNKNOWN_SERVER', `"${id}" is no server of the configuration.`);
  }

  private async bring(server: ConfiguredServer): Promise<void> {
    const { catalog } = this.deps;
    if (server.state === 'faulty') catalog.setUnusable(server.id, server.faults.join(' '));
    if (server.state === 'disabled') catalog.setUnusable(server.id, 'it is disabled in the configuration.');
    if (server.state !== 'usable') return;
    const hash = createHash('sha256').update(JSON.stringify(server.entry)).digest('hex');
    // Somebody else may be at it: it is in line when they are done.
    if (this.hashes.get(server.id) === hash) return this.bringing.get(server.id);
    this.drop(server.id);
    this.hashes.set(server.id, hash);
    const bringing = this.add(server.entry, hash).finally(() => {
      if (this.bringing.get(server.id) === bringing) this.bringing.delete(server.id);
    });
    this.bringing.set(server.id, bringing);
    return bringing;
  }

  private async add(entry: ServerEntry, hash: string): Promise<void> {
    const { catalog, lists, create } = this.deps;
    const earlier = await lists.get(entry.id, hash);
    if (this.hashes.get(entry.id) !== hash) return;
    const provider = create(entry);
    catalog.add(provider, earlier);
    void this.list(provider);
  }

  private async list(provider: ToolProvider): Promise<void> {
    const hash = this.hashes.get(provider.id);
    await this.deps.catalog.refresh(provider);
    if (!hash || !provider.listed || provider.health.state !== 'ready') return;
    await this.deps.lists.put(provider.id, hash, provider.listed.tools).catch((error) => {
      // It only serves the first second of the next start.
      this.deps.log.warn(`The tools of "${provider.id}" were not stored: ${messageOf(error)}`);
    });
  }

  private drop(id: string): void {
    const provider = this.deps.catalog.provider(id);
    this.hashes.delete(id);
    this.deps.catalog.remove(id);
    if (!provider || !isRelay(provider)) return;
    this.retiring.add(provider);
    void provider.retire().finally(() => this.retiring.delete(provider));
  }
}
