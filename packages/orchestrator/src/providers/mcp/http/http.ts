import { setTimeout as sleep } from 'node:timers/promises';
import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import {
  isResponse,
  type JsonObject,
  type RpcId,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import type { HttpTransportEntry } from '../../../config/server-entry.js';
import { openOutgoing, privateAsWritten } from '../../../outgoing/outgoing.js';
import { orAborted } from '../abort.js';
import { Unasked } from '../bounds/unasked.js';
import type { Transport, TransportContext, TransportEvents } from '../transport.js';
import { explainHttp, type HttpFailure, rpcErrorIn } from './failure.js';
import { Lanes, type Loss } from './lanes.js';
import { HttpRoad } from './road.js';
import { ShownTokens } from './shown-tokens.js';

/** For the farewell to the server: what is still on its way, and the end of the session. */
const CLOSE_MS = 1000;
/** What a stream said last has arrived by then. */
const UNDERWAY_MS = 20;
/** Answers to the server's own questions, each of which is a request of its own. */
const ANSWERS_PER_SECOND = 200;

/** Streamable HTTP or the older SSE, by the SDK's transports. */
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
  private readonly lanes: Lanes;
  private readonly inFlight = new Map<RpcId, AbortController>();
  private readonly leaving = new Set<Promise<void>>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly answers: Unasked;
  private events: TransportEvents | undefined;
  /** What waits until the server has taken `initialized`: two posts may overtake each other. */
  private held: (() => void)[] | undefined;
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
    const tokens = new ShownTokens(server, context.credentials);
    this.lanes = new Lanes(entry, this.url, tokens, (url, init) => this.road.fetch(url, init));
  }

  async start(signal: CancelSignal): Promise<void> {
    try {
      await orAborted(this.lanes.start(), signal);
    } catch (error) {
      void this.close();
      throw this.road.refusal ?? this.explain(error, false).error;
    }
  }

  listen(events: TransportEvents): void {
    this.events = events;
    this.lanes.listen({
      message: (message, during) => this.receive(message, during),
      error: (error, loss) => this.hear(error, loss),
    });
  }

  send(message: RpcMessage, headers?: Record<string, string>): void {
    if (this.held) this.held.push(() => this.dispatch(message, headers));
    else this.dispatch(message, headers);
  }

  agreed(version: string): void {
    this.lanes.agreed(version);
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
    this.lanes
      .request(message, controller.signal, () => this.lose(id), headers)
      .catch((error) => this.fail(id, error));
  }

  /** A notification, or an answer to a question of the server. */
  private tell(message: RpcMessage, method: string | undefined): void {
    const cancelled = method === 'notifications/cancelled' ? this.cancelled(message) : undefined;
    // In the modern era the end of the request's own stream is what cancels it.
    if (cancelled && !this.lanes.isLegacy) {
      cancelled.abort();
      return;
    }
    if (method === 'notifications/initialized') this.held = [];
    const sent = this.lanes.tell(message).then(() => {
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
    const { error, spent } = this.explain(thrown, this.lanes.isInSession);
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

  private hear(error: Error, loss: Loss): void {
    if (this.closing) return;
    this.context.log.debug(`Server "${this.server}": ${error.message}`);
    this.events?.noise(0);
    if (loss === 'spent') this.events?.spent();
    if (loss === 'all') this.finish(`Server "${this.server}" ended its event stream.`);
  }

  private finish(sentence: string): void {
    void this.close();
    this.events?.closed(new AppError('CONNECTION_LOST', sentence));
    this.events = undefined;
  }

  private async sayGoodbye(): Promise<void> {
    const farewell = Promise.allSettled(this.leaving).then(() => this.lanes.endSession());
    const impatience = new AbortController();
    await Promise.race([farewell, sleep(CLOSE_MS, undefined, { signal: impatience.signal }).catch(() => {})]);
    impatience.abort();
    for (const timer of this.timers) clearTimeout(timer);
    await this.lanes.close();
    for (const controller of this.inFlight.values()) controller.abort();
    await this.road.close();
    this.finish(`The connection to server "${this.server}" was closed.`);
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
