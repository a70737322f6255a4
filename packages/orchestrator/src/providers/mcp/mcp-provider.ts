import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { paramHeaders } from '@mcpbridge/shared/param-headers.js';
import type { Era } from '@mcpbridge/shared/protocol.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import type { ServerEntry } from '../../config/server-entry.js';
import type { Log } from '../../log.js';
import type { Settings } from '../../settings.js';
import type { Caller, Health, McpRelay, Opened, ProviderCall, RelayOptions, ToolList } from '../provider.js';
import { type Connection, openConnection } from './connection.js';
import { COMMON, Connections } from './connections.js';
import type { Eras } from './handshake.js';
import { LineRing } from './line-ring.js';
import { listTools } from './lists.js';
import { Routing } from './routing.js';
import { type ListChangedListener, ServerTools } from './server-tools.js';
import type { SessionMemory } from './session-memory.js';

const STDERR_LINES = 200;
const LAST_WORDS = 3;
const MAX_CONNECTIONS = 64;
/** Requests that change nothing, or nothing more when they come twice. */
const READS =
  /^(tools\/list|resources\/|prompts\/|completion\/|logging\/|ping$|tasks\/(get|list|result|cancel)$)/;

export interface McpProviderOptions
  extends Pick<Settings, 'env' | 'home' | 'idleTimeoutMs' | 'maxMessageBytes'> {
  log: Log;
  /** Connections, and so processes, that this server may have at once. */
  maxConnections?: number;
}

/** One upstream MCP server, whatever its transport and era. */
export class McpProvider implements McpRelay {
  readonly kind = 'mcp';
  readonly id: string;
  private readonly pool: Connections;
  private readonly tools: ServerTools;
  private readonly lines = new LineRing(STDERR_LINES);
  private stopped = false;
  /** Found out once, for the life of this configuration. */
  private readonly refusedEras = new Set<Era>();
  /** What the latest connection was told. */
  about: Opened | undefined;

  constructor(
    private readonly entry: ServerEntry,
    private readonly options: McpProviderOptions,
  ) {
    this.id = entry.id;
    this.tools = new ServerTools(entry.id, (key) => this.readTools(key), options.log);
    this.pool = new Connections({
      server: entry.id,
      idleTimeoutMs: options.idleTimeoutMs,
      maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
      connect: (key, caller, memory, over) => this.connect(key, caller, memory, over),
      mustStay: (key, { opened }) => key === COMMON && announcesTools(opened),
    });
  }

  get listed(): ToolList | undefined {
    return this.tools.common;
  }

  /** `listed`, unless the session's own connection said that its tools are others. */
  listedFor(sessionId: string): ToolList | undefined {
    return this.tools.of(sessionId);
  }

  get health(): Health {
    if (this.stopped) return { state: 'stopped' };
    if (this.pool.failure) return { state: 'failed', ...this.pool.failure };
    if (this.tools.failure !== undefined) return { state: 'failed', reason: this.tools.failure };
    return this.listed ? { state: 'ready' } : { state: 'starting' };
  }

  /** The last lines that the server's processes wrote on stderr, and on stdout beside the protocol. */
  get stderr(): readonly string[] {
    return this.lines.lines;
  }

  refresh(): Promise<ToolList> {
    return this.tools.refresh();
  }

  async call({ caller, tool, args, meta, more, signal, listener }: ProviderCall): Promise<ToolResult> {
    const params: JsonObject = { ...more, name: tool, arguments: args };
    if (meta) params._meta = meta;
    const repeatable = () => isRepeatable(this.tools.find(caller.sessionId, tool)?.annotations);
    const origin = { caller, listener };
    const result = await this.using(caller, signal, tool, repeatable, (connection) => {
      const schema =
        connection.opened.era === 'modern' ? this.tools.find(caller.sessionId, tool)?.inputSchema : undefined;
      return connection.request('tools/call', params, {
        signal,
        origin,
        headers: schema && paramHeaders(schema, args),
      });
    });
    if (!isObject(result)) {
      throw new AppError('PROVIDER_ERROR', `Server "${this.id}" answered "${tool}" with no result.`);
    }
    return result;
  }

  request(
    caller: Caller | undefined,
    method: string,
    params: JsonObject | undefined,
    { signal, listener }: RelayOptions,
  ): Promise<unknown> {
    const options = { signal, origin: caller && { caller, listener } };
    return this.using(
      caller,
      signal,
      method,
      () => READS.test(method),
      (connection) => connection.request(method, params, options),
    );
  }

  async setLogLevel(caller: Caller, level: unknown, options: RelayOptions): Promise<void> {
    const key = this.keyOf(caller);
    if (this.pool.ready(key)) await this.request(caller, 'logging/setLevel', { level }, options);
    else this.pool.memory(key).logLevel = level;
  }

  /** Goes to the session's own connection if there is one: what nobody has heard needs no correction. */
  notify(caller: Caller, method: string, params: JsonObject | undefined): void {
    const connection = this.entry.isolation === 'session' ? this.pool.ready(caller.sessionId) : undefined;
    if (connection?.opened.era === 'legacy') connection.peer.notify(method, params);
  }

  /** What the server said of itself to this session; connects if need be. */
  async opened(caller: Caller, signal?: CancelSignal): Promise<Opened> {
    const key = this.keyOf(caller);
    this.refuseIfStopped();
    return (await this.pool.get(key, caller, signal)).opened;
  }

  onListChanged(listener: ListChangedListener): () => void {
    return this.tools.onChanged(listener);
  }

  async endSession(sessionId: string): Promise<void> {
    const reason = new AppError('CALL_CANCELLED', 'The session ended.');
    this.tools.forget(sessionId);
    if (this.entry.isolation === 'session') return this.pool.end(sessionId, reason);
    const common = this.pool.ready(COMMON);
    common?.peer.cancelAll((origin) => origin?.caller.sessionId === sessionId, reason);
  }

  /** Ends every connection; calls fail until `start`. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.pool.endAll(new AppError('CALL_CANCELLED', `Server "${this.id}" is being stopped.`));
  }

  /** Usable again, at once and whatever failed before. */
  async start(): Promise<ToolList> {
    this.stopped = false;
    this.pool.forgive();
    return this.refresh();
  }

  close(): Promise<void> {
    return this.stop();
  }

  /**
   * One more try where nothing can happen twice: the request provably never started and its connection is gone,
   * or the answer was lost of one that may be repeated.
   */
  private async using<T>(
    caller: Caller | undefined,
    signal: CancelSignal,
    what: string,
    repeatable: () => boolean,
    use: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    this.refuseIfStopped();
    const key = this.keyOf(caller);
    const connection = this.pool.ready(key) ?? (await this.pool.get(key, caller, signal));
    if (caller && key !== COMMON) connection.routing.caller = caller;
    try {
      return await use(connection);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const neverStarted = error.retryable && this.pool.ready(key) !== connection;
      if (!neverStarted && !(error.code === 'CONNECTION_LOST' && repeatable())) throw lostDuring(what, error);
      this.refuseIfStopped();
      const again = this.pool.ready(key) ?? (await this.pool.get(key, caller, signal));
      return use(again).catch((second) => {
        throw lostDuring(what, second);
      });
    }
  }

  private keyOf(caller: Caller | undefined): string {
    return caller !== undefined && this.entry.isolation === 'session' ? caller.sessionId : COMMON;
  }

  private refuseIfStopped(): void {
    if (!this.stopped) return;
    throw new AppError('PROVIDER_UNAVAILABLE', `Server "${this.id}" is stopped.`, { retryable: false });
  }

  private async connect(
    key: string,
    caller: Caller | undefined,
    memory: SessionMemory,
    over: CancelSignal,
  ): Promise<Connection> {
    const { env, home, maxMessageBytes, log } = this.options;
    const context = { env, home, maxMessageBytes, log, words: new LineRing(LAST_WORDS, this.lines) };
    const routing = new Routing(this.id, key === COMMON ? undefined : caller, {
      toolsChanged: (from) => this.tools.changed(from.caller?.sessionId, () => !this.stopped),
      dropped: () => log.debug(`Server "${this.id}": a message that belongs to no call was dropped.`),
      spent: (from) => this.forget(from),
      closed: (from, reason) => {
        if (this.forget(from)) log.warn(reason.message);
      },
    });
    const leaving = (ended: Promise<void>) => void this.pool.leave(ended);
    const connection = await openConnection(this.entry, context, routing, memory, {
      eras: this.erasFor(key === COMMON ? 'legacy' : (caller?.era ?? 'legacy')),
      over,
      leaving,
    });
    this.about = connection.opened;
    return connection;
  }

  private erasFor(preferred: Era): Eras {
    const both: Era[] = preferred === 'modern' ? ['modern', 'legacy'] : ['legacy', 'modern'];
    const order = both.filter((era) => !this.refusedEras.has(era));
    // A server that refused both may have been replaced by a better one.
    return { order: order.length > 0 ? order : both, refused: (era) => this.refusedEras.add(era) };
  }

  /** False for a connection that was on its way out already. */
  private forget(routing: Routing): boolean {
    if (!this.pool.forget(routing)) return false;
    const sessionId = routing.caller?.sessionId;
    if (sessionId !== undefined) this.tools.forget(sessionId);
    return true;
  }

  private async readTools(key: string): Promise<ToolList | undefined> {
    this.refuseIfStopped();
    const connection =
      this.pool.ready(key) ?? (key === COMMON ? await this.pool.get(key, undefined) : undefined);
    return connection && listTools((method, params) => connection.request(method, params));
  }
}

function isRepeatable(annotations: unknown): boolean {
  return isObject(annotations) && (annotations.readOnlyHint === true || annotations.idempotentHint === true);
}

function announcesTools({ capabilities }: Opened): boolean {
  return isObject(capabilities.tools) && capabilities.tools.listChanged === true;
}

/** Names the tool, which the connection did not know. */
function lostDuring(what: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'CONNECTION_LOST') return error;
  const { cause, details } = error;
  return new AppError('CONNECTION_LOST', `"${what}" was cut off: ${error.message}`, { cause, details });
}
