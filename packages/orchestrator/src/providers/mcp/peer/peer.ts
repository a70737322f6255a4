import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { noticeOf } from '@mcpbridge/shared/cancel-notice.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isDeeperThan, MAX_DEPTH } from '@mcpbridge/shared/json-extent.js';
import {
  isObject,
  isRequest,
  type JsonObject,
  RPC,
  RpcFailure,
  type RpcId,
  type RpcNotification,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import type { Caller, FrameRecorder } from '../../provider.js';
import { abortReason } from '../abort.js';
import { Unasked } from '../bounds/unasked.js';
import type { Transport, TransportEvents } from '../transport.js';
import { type Hearing, Notices, subscriptionOf } from './notices.js';
import type { During, Origin } from './origin.js';
import { Questions } from './questions.js';
import { Unanswered } from './unanswered.js';

/** A shorter message cannot be deep. */
const FLAT_BYTES = 2 * MAX_DEPTH;

/** What the upstream says of its own accord. */
export interface PeerEvents {
  /** The upstream's name. */
  readonly server: string;
  /** Whose the connection is; undefined on a common one. */
  readonly caller?: Caller | undefined;
  notification(notification: RpcNotification, peer: Peer, during: During): void;
  /** A question; its answer, or what is thrown, goes back. `ping` is answered before it gets here. */
  question(
    method: string,
    params: JsonObject | undefined,
    signal: CancelSignal,
    peer: Peer,
    during: During,
  ): Promise<unknown>;
  spent(): void;
  closed(reason: AppError): void;
  /** It sends too much of something; `reason` is a sentence whose subject is the server. */
  bounded(what: string, reason: string): void;
}

export interface RequestOptions {
  signal?: CancelSignal;
  origin?: Origin;
  /** HTTP headers of this request alone. */
  headers?: Record<string, string>;
  /** It waits for as long as the connection lives, and does not keep it from being idle. */
  background?: boolean;
}

interface Pending extends Hearing {
  readonly id: number;
  resolve(result: unknown): void;
  reject(error: Error): void;
  method: string;
  signal: CancelSignal | undefined;
  onAbort: (() => void) | undefined;
  background: boolean;
}

/**
 * The JSON-RPC client of one connection. Its ids are its own, so those of two callers never meet; the id is also
 * the progress token. It sets no timers for requests: the pipeline owns the deadline and aborts `signal`.
 * What the upstream says of its own accord is held within bounds; what it is asked for is not.
 */
export class Peer implements TransportEvents {
  private readonly pending = new Unanswered<Pending>();
  private readonly unasked: Unasked;
  private readonly questions: Questions;
  private readonly notices: Notices;
  private lastSession: string | undefined;
  /** Whoever has used it, as long as that is one session alone. */
  onlyCaller: Caller | undefined;
  /** Called when a request of whomever is not waiting any more; set once somebody wants to know. */
  onAnswered: (() => void) | undefined;
  private closedFor: AppError | undefined;
  private leaving = false;

  constructor(
    private readonly transport: Transport,
    private readonly events: PeerEvents,
  ) {
    this.unasked = new Unasked((what, reason) => events.bounded(what, reason));
    this.questions = new Questions(
      this.unasked,
      (method, params, signal, during) => events.question(method, params, signal, this, during),
      (answer) => {
        this.recorderOf()?.frame(events.server, 'to', answer);
        transport.send(answer);
      },
    );
    this.notices = new Notices(this.unasked, this.pending, this.questions, (notification, during) =>
      events.notification(notification, this, during),
    );
    transport.listen(this);
  }

  get isFlooding(): boolean {
    return this.unasked.isFlooding;
  }

  get isClosed(): boolean {
    return this.closedFor !== undefined;
  }

  get isIdle(): boolean {
    for (const { background } of this.pending) if (!background) return false;
    return this.questions.size === 0;
  }

  /** The callers' requests that are waiting for an answer, the first to come first. */
  running(): Origin[] {
    const requests = [...this.pending].sort((a, b) => a.id - b.id);
    return requests.flatMap(({ origin }) => (origin ? [origin] : []));
  }

  request(method: string, params: JsonObject | undefined, options: RequestOptions = {}): Promise<unknown> {
    const { signal, origin, headers, background = false } = options;
    return new Promise((resolve, reject) => {
      if (this.closedFor) return reject(this.closedFor);
      if (signal?.aborted) return reject(abortReason(signal));
      if (origin && origin.caller.sessionId !== this.lastSession) this.meet(origin.caller);
      const id = this.pending.nextId();
      const onAbort = signal && (() => this.cancel(id, abortReason(signal)));
      if (signal && onAbort) signal.addEventListener('abort', onAbort);
      this.pending.add({ id, resolve, reject, method, origin, signal, onAbort, background });
      const message: RpcRequest = { jsonrpc: '2.0', id, method };
      if (params) message.params = origin?.listener?.progress ? withProgressToken(params, id) : params;
      this.recorderOf(origin)?.frame(this.events.server, 'to', message);
      this.transport.send(message, headers);
    });
  }

  notify(method: string, params?: JsonObject): void {
    if (this.closedFor) return;
    const message = params
      ? { jsonrpc: '2.0' as const, method, params }
      : { jsonrpc: '2.0' as const, method };
    this.recorderOf()?.frame(this.events.server, 'to', message);
    this.transport.send(message);
  }

  /** Tells the upstream of each request that fits, and rejects it. */
  cancelAll(fits: (origin: Origin | undefined) => boolean, reason: AppError): void {
    for (const { id, origin } of this.pending) if (fits(origin)) this.cancel(id, reason);
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  message(
    message: JsonObject,
    bytes = Number.POSITIVE_INFINITY,
    size = Number.isFinite(bytes) ? bytes : 0,
    during?: RpcId,
  ): void {
    const isTooDeep = bytes > FLAT_BYTES && isDeeperThan(message, MAX_DEPTH);
    if (isTooDeep) this.events.bounded('depth', `It sends JSON of more than ${MAX_DEPTH} levels.`);
    this.recorderOf(this.originOf(message, during))?.frame(this.events.server, 'from', message);
    if (typeof message.method !== 'string') this.takeAnswer(message, size, isTooDeep);
    else if (this.closedFor) return;
    else if (isRequest(message)) this.questions.take(message, size, isTooDeep, this.duringOf(during));
    else if (!isTooDeep) {
      const params = isObject(message.params) ? message.params : undefined;
      this.notices.hear(message.method, params, size, this.duringOf(during ?? subscriptionOf(params)));
    }
  }

  noise(bytes: number): void {
    this.unasked.noise(bytes);
  }

  failed(id: RpcId | undefined, error: AppError): void {
    // What could not be named is the answer to the only request, if there is only one.
    const [only] = id === undefined && this.pending.size === 1 ? this.pending : [];
    this.take(id ?? only?.id)?.reject(error);
  }

  paused(id: RpcId): void {
    this.pending.get(id)?.origin?.listener?.paused?.();
  }

  broken(reason: AppError): void {
    this.closed(reason);
    void this.close();
  }

  spent(): void {
    this.leaving = true;
    this.events.spent();
    this.leaveWhenIdle();
  }

  closed(reason: AppError): void {
    if (this.closedFor) return;
    this.closedFor = reason;
    this.notices.stop();
    for (const { id } of this.pending) this.take(id)?.reject(reason);
    this.questions.withdrawAll(reason);
    this.events.closed(reason);
  }

  private take(id: unknown): Pending | undefined {
    const waiting = this.pending.get(id);
    if (!waiting) return undefined;
    this.pending.delete(waiting);
    if (waiting.signal && waiting.onAbort) waiting.signal.removeEventListener('abort', waiting.onAbort);
    waiting.progress?.stop();
    this.onAnswered?.();
    if (this.leaving) this.leaveWhenIdle();
    return waiting;
  }

  private meet(caller: Caller): void {
    this.onlyCaller = this.lastSession === undefined ? caller : undefined;
    this.lastSession = caller.sessionId;
  }

  private leaveWhenIdle(): void {
    if (this.isIdle) void this.close();
  }

  private cancel(id: RpcId, reason: Error): void {
    const waiting = this.take(id);
    if (!waiting) return;
    // The specification forbids to cancel the handshake.
    if (waiting.method !== 'initialize') {
      this.notify('notifications/cancelled', { requestId: id, reason: reason.message, ...noticeOf(reason) });
    }
    waiting.reject(reason);
  }

  private takeAnswer(message: JsonObject, bytes: number, isTooDeep: boolean): void {
    this.pending.get(message.id)?.progress?.finish();
    const waiting = this.take(message.id);
    if (!waiting) {
      // A late answer to what was cancelled, or one to nothing.
      if (!this.unasked.allows(bytes))
        this.unasked.over('answers', 'It answers on and on what it was not asked.');
    } else if (isTooDeep && waiting.method !== 'tools/list') {
      // In a list it is the fault of one tool.
      const sentence = `Server "${this.events.server}" answered ${waiting.method} with JSON of more than ${MAX_DEPTH} levels.`;
      waiting.reject(new AppError('PROVIDER_ERROR', sentence, { details: { levels: MAX_DEPTH } }));
    } else if (isObject(message.error)) waiting.reject(toFailure(message.error));
    else waiting.resolve(message.result);
  }

  /** Of the session that the connection belongs to; on a common one, of the session that asked. */
  private recorderOf(origin?: Origin): FrameRecorder | undefined {
    return (origin?.caller ?? this.events.caller)?.recorder;
  }

  /** Who asked for what a message answers, tells the progress of, or came with. */
  private originOf({ id, method, params }: JsonObject, during: RpcId | undefined): Origin | undefined {
    if (method === undefined) return this.pending.get(id)?.origin;
    const told = isObject(params) ? this.pending.get(params.progressToken)?.origin : undefined;
    return told ?? this.pending.get(during ?? subscriptionOf(params))?.origin;
  }

  private duringOf(id: unknown): During {
    return id === undefined ? undefined : (this.pending.get(id)?.origin ?? null);
  }
}

function withProgressToken(params: JsonObject, progressToken: number): JsonObject {
  const meta = isObject(params._meta) ? params._meta : undefined;
  return { ...params, _meta: { ...meta, progressToken } };
}

function toFailure({ code, message, data }: JsonObject): RpcFailure {
  const number = typeof code === 'number' ? code : RPC.internalError;
  return new RpcFailure(number, typeof message === 'string' ? message : 'The server gave no reason.', data);
}
