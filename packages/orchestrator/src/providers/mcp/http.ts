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
  type JSONRPCMessage,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type { HttpTransportEntry } from '../../config/server-entry.js';
import { orAborted } from './abort.js';
import { explainHttp, rpcErrorIn } from './http-failure.js';
import { HttpRoad } from './http-road.js';
import type { Transport, TransportContext, TransportEvents } from './transport.js';

/** For the farewell to the server: what is still on its way, and the end of the session. */
const CLOSE_MS = 1000;
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
  private readonly inFlight = new Map<RpcId, AbortController>();
  private readonly leaving = new Set<Promise<void>>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private events: TransportEvents | undefined;
  /** What waits until the server has taken `initialized`: two posts may overtake each other. */
  private held: (() => void)[] | undefined;
  private isLegacy = false;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly server: string,
    entry: HttpTransportEntry,
    private readonly context: TransportContext,
  ) {
    this.url = new URL(entry.url);
    this.road = new HttpRoad(
      server,
      context.maxMessageBytes,
      (id, error) => this.refuse(id, error),
      () => this.events?.isFlooding ?? false,
    );
    const requestInit = { headers: entry.headers };
    this.remote =
      entry.kind === 'sse'
        ? new SSEClientTransport(this.url, { requestInit, fetch: (url, init) => this.fetchForSse(url, init) })
        : new StreamableHTTPClientTransport(this.url, {
            requestInit,
            fetch: (url, init) => this.road.fetch(url, init),
            reconnectionOptions: RECONNECTION,
            reconnectionScheduler: (reconnect, delay) => this.schedule(reconnect, delay),
          });
  }

  async start(signal: CancelSignal): Promise<void> {
    try {
      await orAborted(this.remote.start(), signal);
    } catch (error) {
      void this.close();
      throw explainHttp(this.server, this.url, error, false).error;
    }
  }

  listen(events: TransportEvents): void {
    this.events = events;
    this.remote.onmessage = (message) => {
      if (isObject(message)) this.receive(message);
    };
    this.remote.onerror = (error) => this.hear(error);
  }

  send(message: RpcMessage, headers?: Record<string, string>): void {
    if (this.held) this.held.push(() => this.dispatch(message, headers));
    else this.dispatch(message, headers);
  }

  agreed(version: string): void {
    this.isLegacy = true;
    this.remote.setProtocolVersion(version);
  }

  close(): Promise<void> {
    this.closing ??= this.sayGoodbye();
    return this.closing;
  }

  private dispatch(message: RpcMessage, headers?: Record<string, string>): void {
    const { method } = message as Partial<RpcRequest>;
    if (method !== undefined && 'id' in message) this.request(message, headers);
    else this.tell(message, method);
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
    if (this.remote instanceof SSEClientTransport) return this.remote.send(message);
    return this.remote.send(message, { requestSignal, onRequestStreamEnd, headers });
  }

  /** A notification, or an answer to a question of the server. */
  private tell(message: RpcMessage, method: string | undefined): void {
    const cancelled = method === 'notifications/cancelled' ? this.cancelled(message) : undefined;
    // In the modern era the end of the request's own stream is what cancels it.
    if (cancelled && !this.isLegacy) {
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

  private receive(message: JsonObject): void {
    if (isResponse(message) && message.id !== null) this.inFlight.delete(message.id);
    this.events?.message(message);
  }

  private fail(id: RpcId, thrown: unknown): void {
    if (!this.inFlight.delete(id)) return;
    const { error, spent } = explainHttp(this.server, this.url, thrown, this.isInSession());
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

  private isInSession(): boolean {
    return this.remote instanceof SSEClientTransport || this.remote.sessionId !== undefined;
  }

  /** The SDK reports here what it also throws, and what happens to streams that belong to no request. */
  private hear(error: Error): void {
    if (this.closing) return;
    this.context.log.debug(`Server "${this.server}": ${error.message}`);
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
    return this.road.fetch(url, init.method === 'POST' ? rest : init);
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
