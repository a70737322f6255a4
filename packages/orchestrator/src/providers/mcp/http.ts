import { setTimeout as sleep } from 'node:timers/promises';
import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import {
  isObject,
  isResponse,
  type JsonObject,
  type RpcId,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import {
  type AuthProvider,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  type JSONRPCMessage,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client';
import type { HttpTransportEntry } from '../../config/server-entry.js';
import { openOutgoing, privateAsWritten } from '../../outgoing/outgoing.js';
import { orAborted } from './abort.js';
import type { Challenge, Credentials } from './credentials.js';
import { explainHttp, type HttpFailure, rpcErrorIn } from './http-failure.js';
import { HttpRoad } from './http-road.js';
import type { Transport, TransportContext, TransportEvents } from './transport.js';
import { Unasked } from './unasked.js';

/** For the farewell to the server: what is still on its way, and the end of the session. */
const CLOSE_MS = 1000;
/** What a stream said last has arrived by then. */
const UNDERWAY_MS = 20;
/** Answers to the server's own questions, each of which is a request of its own. */
const ANSWERS_PER_SECOND = 200;
/** Of one request, for more scope. */
const MAX_STEP_UPS = 3;
const RECONNECTION = {
  initialReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1.5,
  maxReconnectionDelay: 5000,
  maxRetries: 5,
};

/** Streamable HTTP or the older SSE, by the SDK's transports; this is the one module that knows the SDK. */
export async function openHttp(
  server: string,
  entry: HttpTransportEntry,
  context: TransportContext,
  signal: CancelSignal,
): Promise<Transport> {
  const transport = new HttpTransport(server, entry, context);
  await transport.start(signal);
  return transport;
}

class HttpTransport implements Transport {
  private readonly url: URL;
  private readonly road: HttpRoad;
  private readonly remote: StreamableHTTPClientTransport | SSEClientTransport;
  private readonly options: StreamableHTTPClientTransportOptions;
  private readonly inFlight = new Map<RpcId, AbortController>();
  private readonly leaving = new Set<Promise<void>>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly answers: Unasked;
  private events: TransportEvents | undefined;
  /** What waits until the server has taken `initialized`: two posts may overtake each other. */
  private held: (() => void)[] | undefined;
  /** The version of the legacy era that the handshake agreed on. */
  private legacyVersion: string | undefined;
  private readonly sentWith = new WeakMap<Response, string>();
  /** The token of the latest request. */
  private shown: string | undefined;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly server: string,
    entry: HttpTransportEntry,
    private readonly context: TransportContext,
  ) {
    this.url = new URL(entry.url);
    this.answers = new Unasked((what, reason) => context.bounds.note(what, reason), ANSWERS_PER_SECOND);
    const outgoing = openOutgoing({
      who: `Server "${server}"`,
      mayBePrivate: privateAsWritten(this.url, entry.allowPrivate),
      remedy: 'write "allowPrivate": true into its entry if that is meant.',
    });
    this.road = new HttpRoad(
      server,
      outgoing,
      context.maxMessageBytes,
      (id, error) => this.refuse(id, error),
      () => this.answers.isFlooding || (this.events?.isFlooding ?? false),
      () => this.answers.over('noise', 'It writes on and on what is no message.'),
      (id) => this.streamEnded(id),
    );
    const { credentials } = context;
    this.options = {
      requestInit: { headers: entry.headers },
      ...(credentials ? { authProvider: this.authProvider(credentials) } : {}),
      fetch: (url, init) => this.fetch(url, init),
      reconnectionOptions: RECONNECTION,
      reconnectionScheduler: (reconnect, delay) => this.schedule(reconnect, delay),
    };
    const { requestInit, authProvider } = this.options;
    this.remote =
      entry.kind === 'sse'
        ? new SSEClientTransport(this.url, {
            requestInit,
            authProvider,
            fetch: (url, init) => this.fetchForSse(url, init),
          })
        : new StreamableHTTPClientTransport(this.url, this.options);
  }

  async start(signal: CancelSignal): Promise<void> {
    try {
      await orAborted(this.remote.start(), signal);
    } catch (error) {
      void this.close();
      throw this.road.refusal ?? this.explain(error, false).error;
    }
  }

  listen(events: TransportEvents): void {
    this.events = events;
    this.hearken(this.remote);
  }

  send(message: RpcMessage, headers?: Record<string, string>): void {
    if (this.held) this.held.push(() => this.dispatch(message, headers));
    else this.dispatch(message, headers);
  }

  agreed(version: string): void {
    this.legacyVersion = version;
    this.remote.setProtocolVersion(version);
  }

  close(): Promise<void> {
    this.closing ??= this.sayGoodbye();
    return this.closing;
  }

  private dispatch(message: RpcMessage, headers?: Record<string, string>): void {
    const { method } = message as Partial<RpcRequest>;
    if (method !== undefined && 'id' in message) this.request(message, headers);
    else if (method !== undefined || this.answers.allows()) this.tell(message, method);
    else {
      const sentence = `It asks more than ${ANSWERS_PER_SECOND} questions a second; the rest gets no answer.`;
      this.answers.over('questions', sentence);
    }
  }

  private request(message: RpcMessage, headers?: Record<string, string>): void {
    const { id } = message as RpcRequest;
    const controller = new AbortController();
    this.inFlight.set(id, controller);
    this.post(message as JSONRPCMessage, controller.signal, () => this.lose(id), headers).catch((error) =>
      this.fail(id, error),
    );
  }

  private post(
    message: JSONRPCMessage,
    requestSignal: AbortSignal,
    onRequestStreamEnd: () => void,
    headers: Record<string, string> | undefined,
  ): Promise<void> {
    const { remote } = this;
    if (remote instanceof SSEClientTransport) return remote.send(message);
    const { legacyVersion } = this;
    const lane = legacyVersion === undefined ? remote : this.laneOf(message, remote.sessionId, legacyVersion);
    return this.withScope(() => lane.send(message, { requestSignal, onRequestStreamEnd, headers }));
  }

  /**
   * The SDK's transport does not say on which stream a message came, and a legacy server says in no other way which request its
   * question belongs to. So each request has a transport of its own in the one session, be its stream opened again or not.
   */
  private laneOf(
    message: JSONRPCMessage,
    sessionId: string | undefined,
    protocolVersion: string,
  ): StreamableHTTPClientTransport {
    const lane = new StreamableHTTPClientTransport(this.url, { ...this.options, sessionId, protocolVersion });
    this.hearken(lane, (message as RpcRequest).id);
    // Without it the SDK opens no stream again; it does nothing else.
    void lane.start();
    return lane;
  }

  private hearken(lane: StreamableHTTPClientTransport | SSEClientTransport, during?: RpcId): void {
    lane.onmessage = (message) => {
      if (isObject(message)) this.receive(message, during);
    };
    lane.onerror = (error) => this.hear(error);
  }

  /** Once more when there is a token with the scope that was missing; credentials have the last word. */
  private async withScope(send: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await send();
      } catch (error) {
        const { credentials } = this.context;
        if (!(error instanceof InsufficientScopeError)) throw error;
        if (!credentials || tries >= MAX_STEP_UPS) throw this.scopeRefused(error.requiredScope, tries);
        await credentials.insufficient(this.shown, {
          resourceMetadataUrl: error.resourceMetadataUrl?.href,
          scope: error.requiredScope,
        });
      }
    }
  }

  private scopeRefused(scope: string | undefined, tries: number): AppError {
    const more = tries === 0 ? '' : ` ${tries} tokens with more rights did not help.`;
    const sentence = `Server "${this.server}" answered 403: the key is not good for that${scope ? ` (it wants the scope "${scope}")` : ''}.${more}`;
    return new AppError('PROVIDER_UNAVAILABLE', sentence, { details: { status: 403 }, retryable: false });
  }

  private authProvider(credentials: Credentials): AuthProvider {
    return {
      token: async () => {
        this.shown = await credentials.token();
        return this.shown;
      },
      onUnauthorized: ({ response }) =>
        credentials.refused(this.sentWith.get(response), challengeOf(response)),
    };
  }

  /** Remembers which token a refusal is about: by the time it comes there may be another. */
  private async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const response = await this.road.fetch(url, init);
    if (response.status === 401) {
      const given = new Headers(init.headers).get('authorization') ?? '';
      this.sentWith.set(response, given.replace(/^Bearer /i, ''));
    }
    return response;
  }

  /** A notification, or an answer to a question of the server. */
  private tell(message: RpcMessage, method: string | undefined): void {
    const cancelled = method === 'notifications/cancelled' ? this.cancelled(message) : undefined;
    // In the modern era the end of the request's own stream is what cancels it.
    if (cancelled && this.legacyVersion === undefined) {
      cancelled.abort();
      return;
    }
    if (method === 'notifications/initialized') this.held = [];
    const sent = this.remote
      .send(message as JSONRPCMessage)
      .catch((error) => this.hear(error))
      .then(() => {
        cancelled?.abort();
        if (method === 'notifications/initialized') this.release();
        this.leaving.delete(sent);
      });
    this.leaving.add(sent);
  }

  private release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const send of held) send();
  }

  private cancelled(message: RpcMessage): AbortController | undefined {
    const id = (message as RpcNotification).params?.requestId as RpcId;
    const controller = this.inFlight.get(id);
    this.inFlight.delete(id);
    return controller;
  }

  private receive(message: JsonObject, during: RpcId | undefined): void {
    if (isResponse(message) && message.id !== null) this.inFlight.delete(message.id);
    this.events?.message(message, undefined, this.road.takePassed(), during);
  }

  private fail(id: RpcId, thrown: unknown): void {
    if (!this.inFlight.delete(id)) return;
    const { error, spent } = this.explain(thrown, this.isInSession());
    if (spent) this.events?.spent();
    const refusal = spent ? undefined : rpcErrorIn(thrown);
    if (refusal) this.events?.message({ jsonrpc: '2.0', id, error: refusal });
    else this.events?.failed(id, error);
  }

  /** Its stream ended, and nothing can bring the answer any more. */
  private lose(id: RpcId): void {
    if (!this.inFlight.delete(id)) return;
    const sentence = `Server "${this.server}" broke the connection off before it answered.`;
    this.events?.failed(id, new AppError('CONNECTION_LOST', sentence));
  }

  /** A server that wants to be polled ends a stream before its answer (SEP-1699); the SDK comes back for the rest. */
  private streamEnded(id: RpcId): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      if (this.inFlight.has(id)) this.events?.paused(id);
    }, UNDERWAY_MS).unref();
    this.timers.add(timer);
  }

  /** Servers repeat keys in their refusals. */
  private explain(thrown: unknown, inSession: boolean): HttpFailure {
    const { hide } = this.context;
    const failure = explainHttp(this.server, this.url, thrown, inSession);
    const { code, message, cause, details, retryable } = failure.error;
    if (!hide || hide(message) === message) return failure;
    return { ...failure, error: new AppError(code, hide(message), { cause, details, retryable }) };
  }

  private isInSession(): boolean {
    return this.remote instanceof SSEClientTransport || this.remote.sessionId !== undefined;
  }

  /** The SDK reports here what it also throws, and what happens to streams that belong to no request. */
  private hear(error: Error): void {
    if (this.closing) return;
    this.context.log.debug(`Server "${this.server}": ${error.message}`);
    this.events?.noise(0);
    if (error.message.startsWith('Maximum reconnection attempts')) this.events?.spent();
    // All answers came by this one stream, and a new one would belong to another session.
    if (error instanceof SseError) {
      this.finish(`Server "${this.server}" ended its event stream.`);
    }
  }

  private finish(sentence: string): void {
    void this.close();
    this.events?.closed(new AppError('CONNECTION_LOST', sentence));
    this.events = undefined;
  }

  private async sayGoodbye(): Promise<void> {
    const farewell = Promise.allSettled(this.leaving).then(() => this.endSession());
    const impatience = new AbortController();
    await Promise.race([farewell, sleep(CLOSE_MS, undefined, { signal: impatience.signal }).catch(() => {})]);
    impatience.abort();
    for (const timer of this.timers) clearTimeout(timer);
    await this.remote.close();
    for (const controller of this.inFlight.values()) controller.abort();
    await this.road.close();
    this.finish(`The connection to server "${this.server}" was closed.`);
  }

  private async endSession(): Promise<void> {
    if (!(this.remote instanceof StreamableHTTPClientTransport)) return;
    await this.remote.terminateSession().catch(() => {
      // A server that is gone, or keeps its sessions for itself, needs no farewell.
    });
  }

  /** This transport gives every post one and the same signal, at which each would leave a listener behind. */
  private fetchForSse(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { signal, ...rest } = init;
    return this.fetch(url, init.method === 'POST' ? rest : init);
  }

  private schedule(reconnect: () => void, delay: number): () => void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      reconnect();
    }, delay).unref();
    this.timers.add(timer);
    return () => clearTimeout(timer);
  }

  /** Told at once, as the SDK will only know that some stream broke off. */
  private refuse(id: number | undefined, error: AppError): void {
    if (id !== undefined) {
      this.inFlight.get(id)?.abort();
      this.inFlight.delete(id);
    }
    this.events?.failed(id, error);
  }
}

function challengeOf(response: Response): Challenge {
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl: resourceMetadataUrl?.href, scope };
}
