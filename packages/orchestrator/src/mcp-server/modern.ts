import { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import {
  isObject,
  isRequest,
  type JsonObject,
  RPC,
  RpcFailure,
  type RpcNotification,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import { META, MODERN_VERSIONS } from '@mcpbridge/shared/protocol.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Dialect } from '../dialects/dialect.js';
import { onCallerGone } from '../http/caller-gone.js';
import { callerSession } from '../http/caller-session.js';
import type { Exchange } from '../http/exchange.js';
import type { CallListener } from '../providers/provider.js';
import { canAnswer, type Session } from '../sessions/session.js';
import type { Sessions } from '../sessions/sessions.js';
import { Answer } from './answer.js';
import { type MethodContext, SERVER_INFO, traceOf } from './context.js';
import type { DialectOf } from './dialect-of.js';
import { checkEnvelope, checkParamHeaders, clientName, termsOf } from './envelope.js';
import { acceptsStream } from './legacy.js';
import { Listening } from './listening.js';
import { listenerFor, type Methods, respond } from './methods.js';
import { type RoundTrip, RoundTrips } from './round-trips.js';

const LIST_TTL_MS = 30_000;
const LISTS = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];
const MAY_ASK = ['tools/call', 'resources/read', 'prompts/get'];
const METHODS = new Set(['server/discover', ...LISTS, ...MAY_ASK, 'completion/complete']);
const CACHEABLE = new Set(['server/discover', ...LISTS, 'resources/read']);
/** Of the legacy era alone. */
const REMOVED = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
]);
/** HTTP statuses that the specification ties to JSON-RPC errors. */
const STATUS: Record<number, number> = {
  [RPC.methodNotFound]: 404,
  [RPC.headerMismatch]: 400,
  [RPC.missingCapability]: 400,
  [RPC.unsupportedVersion]: 400,
};

/** Requests of the modern era: each stands alone and says its version and its client in `_meta`. */
export class ModernRequests {
  private readonly listening = new Set<Listening>();
  private readonly trips = new RoundTrips();

  constructor(
    private readonly sessions: Sessions,
    private readonly methods: Methods,
    private readonly catalog: Catalog,
    private readonly dialectOf: DialectOf,
  ) {
    sessions.on('end', ({ sessionId }) => this.trips.endSession(sessionId));
  }

  async post(exchange: Exchange, message: JsonObject): Promise<void> {
    const answer = new Answer(exchange.response, { mayStream: acceptsStream(exchange) });
    if (!isRequest(message)) return answer.empty();
    checkEnvelope(exchange, message);
    const found = callerSession(this.sessions, exchange);
    const session = found instanceof Promise ? await found : found;
    const params = message.params ?? {};
    const { capabilities, clientInfo } = termsOf(params);
    session.meet('modern', capabilities, clientInfo);
    const dialect = this.dialectOf(exchange, clientInfo);
    if (message.method === 'subscriptions/listen') return this.listen(exchange, session, message);
    if (!this.isKnown(message.method, session, exchange.params.server)) {
      const text = `Method ${JSON.stringify(message.method)} is not known in ${MODERN_VERSIONS[0]}.`;
      return answer.error(message.id, { code: RPC.methodNotFound, message: text }, 404);
    }
    const trip = this.trips.enter(bindingOf(exchange, session, message), session.sessionId, params);
    onCallerGone(exchange.response, trip.abort);
    const run = () => trip.carry(answer, () => this.run(exchange, session, message, trip, dialect));
    const { server } = exchange.params;
    const own = server !== undefined && this.methods.isModern(server);
    const shape = (result: unknown) => stamp(message.method, result ?? this.trips.suspend(trip), own);
    await respond(answer, message, trip.abort, run, shape, (code) => STATUS[code] ?? 200);
  }

  /** Tells who listens for it that tools were added, changed or removed. */
  toolsChanged(): void {
    for (const listening of this.listening) {
      listening.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    }
  }

  close(): void {
    for (const listening of this.listening) listening.end();
    this.trips.close();
  }

  private isKnown(method: string, session: Session, scope: string | undefined): boolean {
    if (METHODS.has(method)) return true;
    return !REMOVED.has(method) && this.methods.isOfExtension(method, session, scope);
  }

  private async run(
    exchange: Exchange,
    session: Session,
    message: RpcRequest,
    trip: RoundTrip,
    dialect: Dialect | undefined,
  ): Promise<unknown> {
    const { method, params = {} } = message;
    const scope = exchange.params.server;
    if (method === 'server/discover') {
      return discovery(await this.methods.about(session, scope));
    }
    if (method === 'tools/call') {
      const tool = this.methods.toolOf({ session, scope, dialect }, params.name);
      if (tool) checkParamHeaders(exchange, tool, params.arguments);
    }
    const listener = listenerOf(message, trip);
    return this.methods.run(method, params, {
      session,
      scope,
      client: clientName(params),
      dialect,
      trace: traceOf(exchange),
      requestId: message.id,
      abort: trip.abort,
      listener,
    });
  }

  private async listen(exchange: Exchange, session: Session, message: RpcRequest): Promise<void> {
    const wanted = message.params?.notifications;
    if (!isObject(wanted)) {
      throw new RpcFailure(RPC.invalidParams, 'subscriptions/listen needs params.notifications.');
    }
    await this.catalog.settled();
    const { response, params } = exchange;
    const early: RpcNotification[] = [];
    let listening: Listening | undefined;
    const context = {
      session,
      scope: params.server,
      client: clientName(message.params ?? {}),
      dialect: undefined,
      abort: new Cancel(),
      listener: {
        terms: termsOf(message.params ?? {}),
        notification: (news: RpcNotification) => {
          if (listening) listening.send(news);
          else early.push(news);
        },
      },
    };
    const gone = () => context.abort.abort(new AppError('CALL_CANCELLED', 'The client listens no more.'));
    response.on('close', gone);
    const taskIds = await this.tasksHeard(wanted.taskIds, context, () => listening?.end());
    const uris = await this.subscribe(wanted.resourceSubscriptions, { ...context, listener: {} });
    const heard = { ...wanted, resourceSubscriptions: uris, taskIds };
    if (!response.writable) return this.unsubscribe(uris, context);
    listening = new Listening(response, session, params.server, message.id, heard);
    for (const news of early) listening.send(news);
    const opened = listening;
    this.listening.add(opened);
    response.on('close', () => {
      this.listening.delete(opened);
      this.unsubscribe(uris, { ...context, abort: new Cancel(), listener: {} });
    });
  }

  /** Of an extension: undefined where the client did not ask for it, or no server has it. */
  private async tasksHeard(
    wanted: unknown,
    context: MethodContext,
    onEnd: () => void,
  ): Promise<readonly string[] | undefined> {
    if (!Array.isArray(wanted)) return undefined;
    if (!this.methods.isOfExtension('tasks/get', context.session, context.scope)) return undefined;
    const taskIds = wanted.filter((taskId) => typeof taskId === 'string');
    return this.methods.listenForTasks(taskIds, context, onEnd);
  }

  /** Answers what the servers agreed to tell of. */
  private async subscribe(wanted: unknown, context: MethodContext): Promise<string[] | undefined> {
    if (!Array.isArray(wanted)) return undefined;
    const uris = wanted.filter((uri) => typeof uri === 'string');
    const answers = uris.map((uri) => this.methods.run('resources/subscribe', { uri }, context));
    const settled = await Promise.allSettled(answers);
    return uris.filter((_, index) => settled[index]?.status === 'fulfilled');
  }

  /** Of those that no other stream of the session listens for. */
  private unsubscribe(uris: string[] | undefined, context: MethodContext): void {
    const others = [...this.listening].filter((other) => other.isOf(context.session, context.scope));
    for (const uri of uris ?? []) {
      if (others.some((other) => other.hears(uri))) continue;
      this.methods.run('resources/unsubscribe', { uri }, context).catch(() => {
        // The session or the server has ended, and the subscription with it.
      });
    }
  }
}

/** In this era the server's name and version stand in `_meta`, and no other revision is spoken. */
function discovery({ serverInfo = SERVER_INFO, protocolVersion, _meta, ...about }: JsonObject): JsonObject {
  const meta = isObject(_meta) ? _meta : {};
  return { ...about, supportedVersions: MODERN_VERSIONS, _meta: { [META.serverInfo]: serverInfo, ...meta } };
}

/** Log lines go only to a request that asked for them; questions only to a client that said it can answer them. */
function listenerOf(message: RpcRequest, trip: RoundTrip): CallListener {
  const terms = termsOf(message.params ?? {});
  const listener = listenerFor((note) => trip.send(note), message);
  if (terms.logLevel === undefined) delete listener.notification;
  if (MAY_ASK.includes(message.method)) {
    listener.ask = async (method, params, signal) => {
      if (canAnswer(terms.capabilities, method)) return trip.ask(method, params, signal);
      throw new RpcFailure(RPC.methodNotFound, `The client of this request cannot answer ${method}.`);
    };
  }
  return { ...listener, terms };
}

/** A state is good for the same principal, session and request alone. */
function bindingOf({ principal, params }: Exchange, session: Session, message: RpcRequest): string {
  const { _meta, inputResponses, requestState, ...asked } = message.params ?? {};
  return JSON.stringify([principal.id, session.sessionId, params.server, message.method, asked]);
}

/** What every result of this era must carry, where the answer does not say it already; `own`: of a server of this era. */
function stamp(method: string, result: unknown, own: boolean): unknown {
  if (!isObject(result)) return result;
  const cache = CACHEABLE.has(method) ? { ttlMs: LIST_TTL_MS, cacheScope: 'private' } : {};
  const stamped = { resultType: 'complete', ...cache, ...result };
  // It says itself who it is, or does not wish to.
  if (own) return stamped;
  const meta = isObject(result._meta) ? result._meta : {};
  return { ...stamped, _meta: { [META.serverInfo]: SERVER_INFO, ...meta } };
}
