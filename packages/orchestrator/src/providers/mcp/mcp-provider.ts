import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { paramHeaders } from '@mcpbridge/shared/param-headers.js';
import type { Era } from '@mcpbridge/shared/protocol.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
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
import { orAborted } from './abort.js';
import { Bounds } from './bounds.js';
import { Comeback } from './comeback.js';
import { type Connection, openConnection, START_TIMEOUT_MS } from './connection.js';
import { COMMON, Connections } from './connections.js';
import type { Eras } from './handshake.js';
import { LineRing } from './line-ring.js';
import { listTools } from './lists.js';
import type { ProcessPlaces } from './process-places.js';
import { Routing } from './routing.js';
import { type ListChangedListener, ServerTools } from './server-tools.js';
import type { SessionMemory } from './session-memory.js';
import { Trouble } from './trouble.js';

const STDERR_LINES = 200;
const LAST_WORDS = 3;
const MAX_CONNECTIONS = 64;
/** A server that answers nothing for so long after a call's deadline has stopped working. */
const ANSWERS_WITHIN_MS = 3000;
/** Over a network: after so long without use a connection may be gone without a sign of it. */
const TRUSTED_MS = 30_000;
const REMOTE_ANSWERS_WITHIN_MS = 5000;
/** Requests that change nothing, or nothing more when they come twice. */
const READS =
  /^(tools\/list|resources\/|prompts\/|completion\/|logging\/|ping$|tasks\/(get|list|result|cancel)$)/;

export interface McpProviderOptions
  extends Pick<Settings, 'env' | 'home' | 'idleTimeoutMs' | 'maxMessageBytes'> {
  log: Log;
  /** Connections, and so processes, that this server may have at once. */
  maxConnections?: number;
  /** Shared by all servers. */
  places: ProcessPlaces;
  /** Milliseconds without use after which a connection over a network is asked whether it still answers. */
  trustedMs?: number;
}

/** One upstream MCP server, whatever its transport and era. */
export class McpProvider implements McpRelay {
  readonly kind = 'mcp';
  readonly id: string;
  private readonly pool: Connections;
  private readonly tools: ServerTools;
  private readonly lines = new LineRing(STDERR_LINES);
  private readonly bounds: Bounds;
  private readonly said = {
    push: (line: string) => {
      this.lines.push(line);
      this.options.log.debug(`Server "${this.id}" says: ${line}`);
    },
  };
  private readonly trouble = new Trouble();
  private readonly comeback = new Comeback(() => this.refresh().then(() => this.tools.announce()));
  /** Why it takes no calls. */
  private refusal: AppError | undefined;
  private isStopped = false;
  /** Found out once, for the life of this configuration. */
  private readonly refusedEras = new Set<Era>();
  /** What the latest connection was told. */
  about: Opened | undefined;

  constructor(
    private readonly entry: ServerEntry,
    private readonly options: McpProviderOptions,
  ) {
    this.id = entry.id;
    this.bounds = new Bounds(entry.id, options.log);
    this.tools = new ServerTools(entry.id, (key) => this.readTools(key), options.log);
    this.pool = new Connections({
      server: entry.id,
      idleTimeoutMs: options.idleTimeoutMs,
      maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
      connect: (key, caller, memory, over) => this.connect(key, caller, memory, over),
      mustStay: (key, { opened }) => key === COMMON && announcesTools(opened),
    });
    options.places.join(this.pool);
  }

  get listed(): ToolList | undefined {
    return this.tools.common;
  }

  /** `listed`, unless the session's own connection said that its tools are others. */
  listedFor(sessionId: string): ToolList | undefined {
    return this.tools.of(sessionId);
  }

  get health(): Health {
    if (this.isStopped) return { state: 'stopped' };
    if (this.pool.failure) return { state: 'failed', ...this.pool.failure };
    const next = this.comeback.at === undefined ? {} : { retryAt: this.comeback.at };
    if (this.tools.failure !== undefined) return { state: 'failed', reason: this.tools.failure, ...next };
    if (!this.listed) return { state: 'starting' };
    const { reason } = this.trouble;
    return reason === undefined ? { state: 'ready' } : { state: 'degraded', reason, ...next };
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
      // What nobody's patience mends waits for somebody's hand.
      const mayPass = !(error instanceof AppError) || error.retryable;
      if (mayPass && !this.refusal) this.comeback.plan({ notBefore: this.pool.failure?.retryAt });
      throw error;
    }
  }

  async call({ caller, tool, args, meta, more, signal, listener }: ProviderCall): Promise<ToolResult> {
    const params: JsonObject = more
      ? { ...more, name: tool, arguments: args }
      : { name: tool, arguments: args };
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
    this.refuseIfEnded();
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
    this.isStopped = true;
    this.refusal = new AppError('PROVIDER_UNAVAILABLE', `Server "${this.id}" is stopped.`, {
      retryable: false,
    });
    this.comeback.forget();
    await this.pool.endAll(new AppError('CALL_CANCELLED', `Server "${this.id}" is being stopped.`));
  }

  /** Usable again, at once and whatever failed before. */
  async start(): Promise<ToolList> {
    this.isStopped = false;
    this.refusal = undefined;
    this.pool.forgive();
    this.trouble.forget();
    this.comeback.forget();
    return this.refresh();
  }

  async retire(): Promise<void> {
    const sentence = `Server "${this.id}" was changed in the configuration while the call was on its way; call again.`;
    this.refusal = new AppError('PROVIDER_UNAVAILABLE', sentence);
    this.comeback.forget();
    await this.pool.retire();
    await this.close();
  }

  async close(): Promise<void> {
    this.options.places.leave(this.pool);
    await this.stop();
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
    this.refuseIfEnded();
    const key = this.keyOf(caller);
    const connection = this.trusted(key) ?? (await this.connected(key, caller, signal));
    if (caller && key !== COMMON) connection.routing.caller = caller;
    try {
      const result = await use(connection);
      this.trouble.over();
      return result;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'CALL_TIMEOUT') void this.examine(connection, ANSWERS_WITHIN_MS);
      const neverStarted = error.retryable && this.pool.ready(key) !== connection;
      if (!neverStarted && !(error.code === 'CONNECTION_LOST' && repeatable())) throw lostDuring(what, error);
      this.refuseIfEnded();
      const again = this.pool.ready(key) ?? (await this.pool.get(key, caller, signal));
      return use(again).catch((second) => {
        throw lostDuring(what, second);
      });
    }
  }

  private keyOf(caller: Caller | undefined): string {
    return caller !== undefined && this.entry.isolation === 'session' ? caller.sessionId : COMMON;
  }

  private refuseIfEnded(): void {
    if (this.refusal) throw this.refusal;
  }

  /** The open connection, unless it may have died unnoticed: the way of nearly every call. */
  private trusted(key: string): Connection | undefined {
    const connection = this.pool.ready(key);
    if (!connection || this.entry.transport.kind === 'stdio' || this.entry.transport.kind === 'docker')
      return connection;
    const { trustedMs = TRUSTED_MS } = this.options;
    return performance.now() - connection.lastUsed < trustedMs || !connection.peer.isIdle
      ? connection
      : undefined;
  }

  private async connected(
    key: string,
    caller: Caller | undefined,
    signal: CancelSignal,
  ): Promise<Connection> {
    const connection = this.pool.ready(key);
    if (connection) await orAborted(this.examine(connection, REMOTE_ANSWERS_WITHIN_MS), signal);
    return this.pool.get(key, caller, signal);
  }

  /** Asks whether it still answers, once for all who want to know; one that does not is replaced at its next use. */
  private examine(connection: Connection, ms: number): Promise<void> {
    connection.examined ??= this.replaceIfSilent(connection, ms).finally(() => {
      connection.examined = undefined;
    });
    return connection.examined;
  }

  private async replaceIfSilent(connection: Connection, ms: number): Promise<void> {
    if (connection.peer.isClosed || (await connection.answers(ms)) || connection.peer.isClosed) return;
    this.trouble.note(
      `Server "${this.id}" answered nothing for ${ms / 1000} s; its connection was given up.`,
    );
    this.options.log.warn(this.trouble.reason ?? '');
    this.loseCommon(connection);
    connection.peer.spent();
  }

  /** The connection that hears of changed tools is opened again without being asked for. */
  private loseCommon({ routing, opened, openedAt }: Connection): void {
    if (routing.caller || this.refusal || !announcesTools(opened)) return;
    this.comeback.plan({ livedMs: performance.now() - openedAt });
  }

  private async connect(
    key: string,
    caller: Caller | undefined,
    memory: SessionMemory,
    over: CancelSignal,
  ): Promise<Connection> {
    const { env, home, maxMessageBytes, log, places } = this.options;
    const words = new LineRing(LAST_WORDS, this.said);
    const context = { env, home, maxMessageBytes, log, words, bounds: this.bounds };
    const { startTimeoutMs: ms = START_TIMEOUT_MS, transport } = this.entry;
    const isProcess = transport.kind === 'stdio' || transport.kind === 'docker';
    const giveBack = isProcess ? await places.take(this.id, ms, over) : () => {};
    let connection: Connection | undefined;
    let leaving: Promise<void> | undefined;
    const routing = new Routing(this.id, key === COMMON ? undefined : caller, {
      toolsChanged: (from) => this.tools.changed(from.caller?.sessionId, () => !this.refusal),
      dropped: () => log.debug(`Server "${this.id}": a message that belongs to no call was dropped.`),
      bounded: (what, reason) => this.bounds.note(what, reason),
      spent: (from) => this.forget(from),
      closed: (from, reason) => {
        if (this.forget(from) && connection) this.lost(connection, reason);
        this.pool.gone(from);
        // Its processes may outlive it for a moment.
        void connection?.close(reason).finally(giveBack);
      },
    });
    try {
      connection = await openConnection(this.entry, context, routing, memory, {
        eras: this.erasFor(key === COMMON ? this.usualEra : (caller?.era ?? 'legacy')),
        over,
        leaving: (ended) => {
          leaving = this.pool.leave(ended);
        },
      });
    } catch (error) {
      void Promise.resolve(leaving).finally(giveBack);
      throw error;
    }
    this.about = connection.opened;
    return connection;
  }

  private lost(connection: Connection, reason: AppError): void {
    this.options.log.warn(reason.message);
    this.trouble.note(reason.message);
    this.loseCommon(connection);
  }

  /**
   * Of the connection that is nobody's. Over HTTP a legacy server refuses the question of the modern era at once; a
   * program on stdio may wait for it in vain, or end.
   */
  private get usualEra(): Era {
    return this.entry.transport.kind === 'http' ? 'modern' : 'legacy';
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
    this.refuseIfEnded();
    const { startTimeoutMs: ms = START_TIMEOUT_MS } = this.entry;
    const patience = new Cancel();
    const sentence = `Server "${this.id}" did not list its tools within ${ms / 1000} s.`;
    const connection =
      this.trusted(key) ??
      (key === COMMON ? await this.connected(key, undefined, patience.signal) : undefined);
    if (!connection) return undefined;
    const timer = setTimeout(() => patience.abort(new AppError('PROVIDER_UNAVAILABLE', sentence)), ms);
    try {
      return await listTools(
        (method, params) => connection.request(method, params, { signal: patience.signal }),
        (reason) => this.bounds.note('tools', reason),
      );
    } finally {
      clearTimeout(timer);
      if (patience.aborted) void this.examine(connection, ANSWERS_WITHIN_MS);
    }
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
