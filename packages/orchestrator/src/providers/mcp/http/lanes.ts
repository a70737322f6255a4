import {
  isObject,
  type JsonObject,
  type RpcId,
  type RpcMessage,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import {
  type JSONRPCMessage,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/client';
import type { HttpTransportEntry } from '../../../config/server-entry.js';
import type { ShownTokens } from './shown-tokens.js';

const RECONNECTION = {
  initialReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1.5,
  maxReconnectionDelay: 5000,
  maxRetries: 5,
};

type Lane = StreamableHTTPClientTransport | SSEClientTransport;
type Fetch = (url: string | URL, init: RequestInit) => Promise<Response>;

/** What is left to do after a stream broke off: nothing, to open another connection next time, to give up this one. */
export type Loss = 'none' | 'spent' | 'all';

/** What a connection hears on its lanes. */
export interface Heard {
  /** `during`: the request on whose stream it came. */
  message(message: JsonObject, during: RpcId | undefined): void;
  error(error: Error, loss: Loss): void;
}

/**
 * The SDK's transports of one connection: one for all of it, and in the legacy era one more for each request. The SDK's
 * transport does not say on which stream a message came, and a legacy server says in no other way which request its
 * question belongs to. So each request has a transport of its own in the one session, be its stream opened again or not.
 */
export class Lanes {
  private readonly main: Lane;
  private readonly options: StreamableHTTPClientTransportOptions;
  private readonly timers = new Set<NodeJS.Timeout>();
  private heard: Heard | undefined;
  /** The version of the legacy era that the handshake agreed on. */
  private legacyVersion: string | undefined;

  constructor(
    { kind, headers }: HttpTransportEntry,
    private readonly url: URL,
    private readonly tokens: ShownTokens,
    private readonly fetch: Fetch,
  ) {
    const authProvider = tokens.provider;
    const requestInit = { headers };
    this.options = {
      requestInit,
      ...(authProvider ? { authProvider } : {}),
      fetch: (address, init) => this.fetchAnswered(address, init),
      reconnectionOptions: RECONNECTION,
      reconnectionScheduler: (reconnect, delay) => this.schedule(reconnect, delay),
    };
    this.main =
      kind === 'sse'
        ? new SSEClientTransport(url, {
            requestInit,
            authProvider,
            fetch: (address, init) => this.fetchForSse(address, init),
          })
        : new StreamableHTTPClientTransport(url, this.options);
  }

  get isInSession(): boolean {
    return this.main instanceof SSEClientTransport || this.main.sessionId !== undefined;
  }

  get isLegacy(): boolean {
    return this.legacyVersion !== undefined;
  }

  start(): Promise<void> {
    return this.main.start();
  }

  listen(heard: Heard): void {
    this.heard = heard;
    this.hearken(this.main);
  }

  agreed(version: string): void {
    this.legacyVersion = version;
    this.main.setProtocolVersion(version);
  }

  /** Rejects when it got no answer; `onStreamEnd`: and nothing can bring the answer any more. */
  request(
    message: RpcMessage,
    requestSignal: AbortSignal,
    onRequestStreamEnd: () => void,
    headers: Record<string, string> | undefined,
  ): Promise<void> {
    const { main, legacyVersion } = this;
    const sent = message as JSONRPCMessage;
    if (main instanceof SSEClientTransport) return main.send(sent);
    const lane =
      legacyVersion === undefined
        ? main
        : this.laneOf((message as RpcRequest).id, main.sessionId, legacyVersion);
    return this.tokens.withScope(() => lane.send(sent, { requestSignal, onRequestStreamEnd, headers }));
  }

  /** What gets no answer. Never rejects. */
  tell(message: RpcMessage): Promise<void> {
    return this.main.send(message as JSONRPCMessage).catch((error) => this.hear(error));
  }

  async endSession(): Promise<void> {
    if (!(this.main instanceof StreamableHTTPClientTransport)) return;
    await this.main.terminateSession().catch(() => {
      // A server that is gone, or keeps its sessions for itself, needs no farewell.
    });
  }

  close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    return this.main.close();
  }

  private laneOf(
    id: RpcId,
    sessionId: string | undefined,
    protocolVersion: string,
  ): StreamableHTTPClientTransport {
    const lane = new StreamableHTTPClientTransport(this.url, { ...this.options, sessionId, protocolVersion });
    this.hearken(lane, id);
    // Without it the SDK opens no stream again; it does nothing else.
    void lane.start();
    return lane;
  }

  private hearken(lane: Lane, during?: RpcId): void {
    lane.onmessage = (message) => {
      if (isObject(message)) this.heard?.message(message, during);
    };
    lane.onerror = (error) => this.hear(error);
  }

  /** The SDK reports here what it also throws, and what happens to streams that belong to no request. */
  private hear(error: Error): void {
    const isSpent = error.message.startsWith('Maximum reconnection attempts');
    // All answers came by this one stream, and a new one would belong to another session.
    const isAll = error instanceof SseError;
    this.heard?.error(error, isAll ? 'all' : isSpent ? 'spent' : 'none');
  }

  private async fetchAnswered(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const response = await this.fetch(url, init);
    this.tokens.answered(response, init);
    return response;
  }

  /** This transport gives every post one and the same signal, at which each would leave a listener behind. */
  private fetchForSse(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { signal, ...rest } = init;
    return this.fetchAnswered(url, init.method === 'POST' ? rest : init);
  }

  private schedule(reconnect: () => void, delay: number): () => void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      reconnect();
    }, delay).unref();
    this.timers.add(timer);
    return () => clearTimeout(timer);
  }
}
