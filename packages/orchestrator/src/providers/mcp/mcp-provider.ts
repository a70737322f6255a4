import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { paramHeaders } from '@mcpbridge/shared/param-headers.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import { traceInMeta } from '@mcpbridge/shared/trace-context.js';
import type { ServerEntry } from '../../config/server-entry.js';
import type { Log } from '../../log.js';
import type { Settings } from '../../settings.js';
import type {
  Bounded,
  Caller,
  Health,
  McpRelay,
  Opened,
  ProviderCall,
  RelayOptions,
  ToolList,
} from '../provider.js';
import { Bounds } from './bounds/bounds.js';
import type { Connection } from './connection/connection.js';
import { isBelow } from './connection/log-levels.js';
import type { Routing } from './connection/routing.js';
import { forget } from './connection/session-memory.js';
import type { Credentials } from './credentials.js';
import { Condition } from './health/condition.js';
import { Liveness } from './health/liveness.js';
import { LineRing } from './line-ring.js';
import { Carrier } from './pool/carrier.js';
import { COMMON, Connections } from './pool/connections.js';
import { type ConnectionEvents, Opener } from './pool/opener.js';
import type { ProcessPlaces } from './pool/process-places.js';
import { changesNothing, isRepeatable } from './pool/repeats.js';
import { type ListChangedListener, ServerTools } from './tools/server-tools.js';
import { toolReader } from './tools/tool-reader.js';

const STDERR_LINES = 200;
const MAX_CONNECTIONS = 64;

export interface McpProviderOptions
  extends Pick<Settings, 'env' | 'home' | 'idleTimeoutMs' | 'maxMessageBytes'> {
  log: Log;
  /** Blanks secrets in what the server says for people, its last words included. */
  hide?: Hide;
  /** Connections, and so processes, that this server may have at once. */
  maxConnections?: number;
  /** Shared by all servers. */
  places: ProcessPlaces;
  /** What connections to that server carry, of that principal; without one: the connection that belongs to nobody. */
  credentialsOf?(entry: ServerEntry, owner: string | undefined): Credentials | undefined;
  /** Milliseconds without use after which a connection over a network is asked whether it still answers. */
  trustedMs?: number;
}

/** One upstream MCP server, whatever its transport and era. */
export class McpProvider implements McpRelay {
  readonly kind = 'mcp';
  readonly id: string;
  private readonly pool: Connections;
  private readonly opener: Opener;
  private readonly liveness: Liveness;
  private readonly tools: ServerTools;
  private readonly lines = new LineRing(STDERR_LINES);
  private readonly bounds: Bounds;
  private readonly said = {
    push: (line: string) => {
      this.lines.push(line);
      this.options.log.debug(`Server "${this.id}" says: ${line}`);
    },
  };
  private readonly condition: Condition;
  private readonly carrier: Carrier;

  constructor(
    private readonly entry: ServerEntry,
    private readonly options: McpProviderOptions,
  ) {
    this.id = entry.id;
    this.bounds = new Bounds(entry.id, options.log);
    this.condition = new Condition(entry.id, options.log, () =>
      this.refresh().then(() => this.tools.announce()),
    );
    this.pool = new Connections({
      server: entry.id,
      idleTimeoutMs: options.idleTimeoutMs,
      maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
      connect: (...start) => this.opener.open(...start),
      mustStay: (key, { announcesTools }) => key === COMMON && (announcesTools || isKeptOpen(entry)),
    });
    options.places.join(this.pool);
    this.liveness = new Liveness(entry, (connection, ms) => this.silent(connection, ms), options.trustedMs);
    this.carrier = new Carrier(entry, this.pool, this.liveness, this.condition);
    const { bounds, carrier, condition, liveness } = this;
    const read = toolReader(entry, { carrier, liveness, bounds, condition });
    this.tools = new ServerTools(entry.id, read, options.log);
    const credentialsOf = (owner: string | undefined) => options.credentialsOf?.(entry, owner);
    this.opener = new Opener(entry, { ...options, credentialsOf, bounds, said: this.said }, this.events());
  }

  /** What the latest connection was told. */
  get about(): Opened | undefined {
    return this.opener.about;
  }

  get listed(): ToolList | undefined {
    return this.tools.common;
  }

  /** `listed`, unless the session's own connection said that its tools are others. */
  listedFor(sessionId: string): ToolList | undefined {
    return this.tools.of(sessionId);
  }

  get health(): Health {
    return this.condition.health(this.pool.failure, this.tools);
  }

  /** The last lines that the server's processes wrote on stderr, and on stdout beside the protocol. */
  get stderr(): readonly string[] {
    return this.lines.lines;
  }

  get bounded(): readonly Bounded[] {
    return this.bounds.list;
  }

  async refresh(): Promise<ToolList> {
    try {
      return await this.tools.refresh();
    } catch (error) {
      this.condition.refreshFailed(error, this.pool.failure?.retryAt);
      throw error;
    }
  }

  async call({
    caller,
    tool,
    args,
    meta,
    more,
    signal,
    listener,
    onQueued,
  }: ProviderCall): Promise<ToolResult> {
    const params: JsonObject = more
      ? { ...more, name: tool, arguments: args }
      : { name: tool, arguments: args };
    if (meta) params._meta = meta;
    const repeatable = () => isRepeatable(this.tools.find(caller.sessionId, tool)?.annotations);
    const origin = { caller, listener };
    const result = await this.carrier.carry(
      caller,
      signal,
      tool,
      repeatable,
      (connection) => {
        const schema =
          connection.opened.era === 'modern'
            ? this.tools.find(caller.sessionId, tool)?.inputSchema
            : undefined;
        return connection.request('tools/call', params, {
          signal,
          origin,
          headers: this.headersOf(meta, schema && paramHeaders(schema, args)),
        });
      },
      onQueued,
    );
    if (!isObject(result)) {
      throw new AppError('PROVIDER_ERROR', `Server "${this.id}" answered "${tool}" with no result.`);
    }
    return result;
  }

  /** Over HTTP a trace goes on in the headers as well: whatever stands before the server reads only these. */
  private headersOf(
    meta: JsonObject | undefined,
    headers: Record<string, string> | undefined,
  ): Record<string, string> | undefined {
    const trace = this.entry.transport.kind === 'http' ? traceInMeta(meta) : undefined;
    return trace ? { ...headers, ...trace } : headers;
  }

  request(
    caller: Caller | undefined,
    method: string,
    params: JsonObject | undefined,
    { signal, listener }: RelayOptions,
  ): Promise<unknown> {
    const options = { signal, origin: caller && { caller, listener } };
    return this.carrier.carry(
      caller,
      signal,
      method,
      () => changesNothing(method),
      (connection) => connection.request(method, params, options),
    );
  }

  async setLogLevel(caller: Caller, level: unknown, options: RelayOptions): Promise<void> {
    const key = this.carrier.keyOf(caller);
    if (this.pool.ready(key)) {
      await this.request(caller, 'logging/setLevel', { level }, options);
      return;
    }
    const memory = this.pool.memory(key);
    memory.levels.set(caller.sessionId, level);
    if (key === caller.sessionId || memory.logLevel === undefined || isBelow(level, memory.logLevel))
      memory.logLevel = level;
  }

  /** Goes to the session's own connection if there is one: what nobody has heard needs no correction. */
  notify(caller: Caller, method: string, params: JsonObject | undefined): void {
    const connection = this.entry.isolation === 'session' ? this.pool.ready(caller.sessionId) : undefined;
    if (connection?.opened.era === 'legacy') connection.peer.notify(method, params);
  }

  /** What the server said of itself to this session; connects if need be. */
  async opened(caller: Caller, signal?: CancelSignal): Promise<Opened> {
    const key = this.carrier.keyOf(caller);
    this.condition.refuseIfEnded();
    return (await this.pool.get(key, caller, signal)).opened;
  }

  onListChanged(listener: ListChangedListener): () => void {
    return this.tools.onChanged(listener);
  }

  async endSession(sessionId: string): Promise<void> {
    const reason = new AppError('CALL_CANCELLED', 'The session ended.');
    this.tools.forget(sessionId);
    if (this.entry.isolation === 'session') return this.pool.end(sessionId, reason);
    for (const connection of this.pool.allReady()) {
      connection.forgetSession(sessionId);
      connection.peer.cancelAll((origin) => origin?.caller.sessionId === sessionId, reason);
    }
    for (const memory of this.pool.allMemories()) forget(memory, sessionId);
  }

  /**
   * Other credentials from now on, of that principal or (undefined) of all: what carries the old ones takes nothing new,
   * and ends when its calls have.
   */
  async changeCredentials(owner: string | undefined): Promise<void> {
    this.condition.signedIn();
    // Lists are read with somebody's account, too.
    await this.pool.renew((whose) => owner === undefined || whose === owner || whose === undefined);
  }

  /** Ends every connection; calls fail until `start`. */
  async stop(): Promise<void> {
    this.condition.stop();
    const reason = new AppError('CALL_CANCELLED', `Server "${this.id}" is being stopped.`);
    await Promise.all([this.pool.endAll(reason), this.opener.endSpares()]);
  }

  /** Usable again, at once and whatever failed before. */
  async start(): Promise<ToolList> {
    this.pool.forgive();
    this.condition.start();
    return this.refresh();
  }

  async retire(): Promise<void> {
    this.condition.retire();
    void this.opener.endSpares();
    await this.pool.retire();
    await this.close();
  }

  async close(): Promise<void> {
    this.options.places.leave(this.pool);
    this.opener.close();
    await this.stop();
  }

  private silent(connection: Connection, ms: number): void {
    const sentence = `Server "${this.id}" answered nothing for ${ms / 1000} s; its connection was given up.`;
    this.condition.lost(connection, sentence);
    connection.peer.spent();
  }

  private events(): ConnectionEvents {
    return {
      toolsChanged: (sessionId) => this.tools.changed(sessionId, () => this.condition.takesCalls),
      spent: (routing) => this.forget(routing),
      lost: (connection, reason) => this.condition.lost(connection, reason.message),
      gone: (routing) => this.pool.gone(routing),
      leaving: (ended) => this.pool.leave(ended),
      isWanted: () => this.condition.takesCalls,
      roomFor: () => (this.options.maxConnections ?? MAX_CONNECTIONS) - this.pool.inUse,
    };
  }

  /** False for a connection that was on its way out already. */
  private forget(routing: Routing): boolean {
    if (!this.pool.forget(routing)) return false;
    const sessionId = routing.caller?.sessionId;
    if (sessionId !== undefined) this.tools.forget(sessionId);
    return true;
  }
}

/** The one connection of a shared server that is to be warm. */
function isKeptOpen({ isolation, warm = 0 }: ServerEntry): boolean {
  return isolation === 'shared' && warm > 0;
}
