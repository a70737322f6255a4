import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Log } from '../log.js';
import type { ServerMap } from './config-file.js';
import { NOTHING, readState } from './file-state.js';
import { maskEntry } from './mask.js';
import { isSwitch, type MergedServer, mergeServers } from './merge-servers.js';
import { overlayFor } from './overlay.js';
import type { PlaceholderSource } from './placeholders.js';
import { readEntry } from './read-entry.js';
import type { EntryContext } from './reading.js';
import type { ConfiguredServer } from './server-entry.js';
import { unmaskEntry } from './unmask.js';
import { watchFiles } from './watch-files.js';
import { overlayText, replaceFile } from './write-overlay.js';

interface ServersConfigOptions {
  /** The base file; the overlay is beside it, `x_user.json` for `x.json`. */
  file: string;
  workspaceFolder: string;
  env: NodeJS.ProcessEnv;
  /** What `${secret:NAME}` stands for. */
  secret?: PlaceholderSource['secret'];
  log: Log;
}

/** The configured servers, read from the base file and its overlay and read again whenever these change. */
export class ServersConfig {
  readonly paths: { readonly base: string; readonly overlay: string };
  /** Sorted by id. */
  servers: readonly ConfiguredServer[] = [];
  /** What is wrong with the files as such, one sentence each; a fault of one server is with that server. */
  faults: readonly string[] = [];
  private base = NOTHING;
  private overlay = NOTHING;
  private merged: ReadonlyMap<string, MergedServer> = new Map();
  private readonly listeners = new Set<() => void>();
  private readonly context: EntryContext;
  private unwatch = () => {};
  /** Reading and saving, one after the other. */
  private work: Promise<void> = Promise.resolve();

  private constructor(private readonly options: ServersConfigOptions) {
    const base = resolve(options.file);
    this.paths = { base, overlay: overlayPath(base) };
    const { env, workspaceFolder, secret } = options;
    this.context = { env, workspaceFolder, folder: dirname(base), ...(secret ? { secret } : {}) };
  }

  /** Reads the files and watches them; missing and broken ones are faults, never a rejection. */
  static async open(options: ServersConfigOptions): Promise<ServersConfig> {
    const config = new ServersConfig(options);
    await config.read();
    const { base, overlay } = config.paths;
    config.unwatch = watchFiles([base, overlay], () => void config.enqueue(() => config.read()));
    return config;
  }

  /** What placeholders stand for may be other values now. */
  refill(): Promise<void> {
    return this.enqueue(() => this.read());
  }

  /** Called after each change of the servers or faults. Answers what unsubscribes. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Both files merged, as people wrote them, without anything that could be a secret. */
  masked(): JsonObject {
    const entries = [...this.merged].map(([id, { raw }]): [string, unknown] => [id, maskEntry(raw)]);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return { mcpServers: Object.fromEntries(entries) };
  }

  /**
   * Makes these the configured servers, by writing the overlay alone. A masked value keeps what is stored.
   * It is the one way by which a caller's words become a command that is run, so it asks by itself who calls.
   * @throws CONFIG_INVALID with every fault, and then nothing was written; FORBIDDEN for whoever is no admin.
   */
  save(mcpServers: unknown, by: { isAdmin: boolean }): Promise<void> {
    return this.enqueue(async () => {
      if (!by.isAdmin)
        throw new AppError('FORBIDDEN', 'Only the owner and admin keys change the configuration.');
      await this.read();
      const overlay = this.overlayOf(mcpServers);
      try {
        await replaceFile(this.paths.overlay, overlayText(this.overlay.text, overlay));
      } catch (error) {
        throw new AppError('INTERNAL', `"${this.paths.overlay}" cannot be written: ${messageOf(error)}.`, {
          cause: error,
        });
      }
      await this.read();
    });
  }

  /** What would keep these from being saved, a sentence each; nothing is written. */
  async check(mcpServers: unknown): Promise<readonly string[]> {
    let faults: readonly string[] = [];
    await this.enqueue(async () => {
      try {
        this.overlayOf(mcpServers);
      } catch (error) {
        if (!(error instanceof ConfigFaults)) throw error;
        faults = error.faults;
      }
    });
    return faults;
  }

  close(): void {
    this.unwatch();
    this.listeners.clear();
  }

  private enqueue(task: () => Promise<void>): Promise<void> {
    const done = this.work.then(task);
    // Whoever asked for the task hears of its failure; the next task starts all the same.
    this.work = done.catch(() => {});
    return done;
  }

  private async read(): Promise<void> {
    const { base, overlay } = this.paths;
    this.base = await readState(base, this.base);
    this.overlay = await readState(overlay, this.overlay);
    this.merged = mergeServers(this.base.servers, this.overlay.servers);
    const missing = this.base.text === undefined && this.base.usable;
    const faults = [
      ...(missing ? [`There is no "${base}"; set MCP_CONFIG to your file of servers.`] : []),
      ...this.base.faults,
      ...this.overlay.faults,
    ];
    const servers = [...this.merged].map(([id, server]) => readEntry(id, server, this.context));
    servers.sort((a, b) => (a.id < b.id ? -1 : 1));
    if (isDeepStrictEqual([servers, faults], [this.servers, this.faults])) return;
    this.servers = servers;
    this.faults = faults;
    this.tell();
  }

  private tell(): void {
    const { log } = this.options;
    for (const fault of this.faults) log.warn(fault);
    for (const server of this.servers) {
      if (server.state === 'faulty')
        log.warn(`Server "${server.id}" is not used: ${server.faults.join(' ')}`);
    }
    for (const listener of this.listeners) {
      try {
        listener();
      } catch (error) {
        log.error(`A change of the configuration was not taken up everywhere: ${messageOf(error)}`);
      }
    }
  }

  /** The overlay that makes the given servers come true; throws with all that is wrong. */
  private overlayOf(given: unknown): ServerMap {
    if (!isObject(given))
      throw new ConfigFaults(['"mcpServers" must be an object: {"name": {"command": …}}.']);
    if (!this.overlay.usable)
      throw new ConfigFaults([...this.overlay.faults, 'Mend or remove that file first.']);
    const faults: string[] = [];
    const wanted = new Map(
      Object.entries(given).map(([id, raw]) => [id, this.unmask(id, raw, (fault) => faults.push(fault))]),
    );
    const overlay = overlayFor(wanted, this.base.servers, this.merged, (fault) => faults.push(fault));
    for (const [id, raw] of overlay) faults.push(...this.faultsOf(id, raw));
    if (faults.length > 0) throw new ConfigFaults(faults);
    return overlay;
  }

  private unmask(id: string, given: unknown, fault: (sentence: string) => void): unknown {
    return unmaskEntry(given, this.merged.get(id)?.raw, (path) =>
      fault(`"${id}": "${path}" is masked and nothing is stored for it; write the value or a \${NAME}.`),
    );
  }

  /** An entry that is stored like this already may have faults: they must not keep the others from being saved. */
  private faultsOf(id: string, raw: unknown): string[] {
    if (isSwitch(raw) || isDeepStrictEqual(raw, this.overlay.servers.get(id))) return [];
    const server = readEntry(id, { origin: 'overlay', raw }, this.context);
    return server.state === 'faulty' ? server.faults.map((fault) => `"${id}": ${fault}`) : [];
  }
}

function overlayPath(base: string): string {
  return base.endsWith('.json') ? base.replace(/\.json$/, '_user.json') : `${base}_user.json`;
}

/** All that is wrong with servers that were to be saved. */
class ConfigFaults extends AppError {
  constructor(readonly faults: readonly string[]) {
    super('CONFIG_INVALID', `The servers were not saved. ${faults.join(' ')}`, { details: { faults } });
  }
}
