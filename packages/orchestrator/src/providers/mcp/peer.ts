import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { noticeOf } from '@mcpbridge/shared/cancel-notice.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isDeeperThan, MAX_DEPTH } from '@mcpbridge/shared/json-extent.js';
import {
  isObject,
  isRequest,
  type JsonObject,
  RPC,
  type RpcError,
  RpcFailure,
  type RpcId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '@mcpbridge/shared/json-rpc.js';
import type { Caller, CallListener } from '../provider.js';
import { abortReason } from './abort.js';
import { Allowance } from './allowance.js';
import { Flow } from './flow.js';
import type { Transport, TransportEvents } from './transport.js';

/** Units a second (see Allowance) of what is said of one's own accord on a connection, and of the progress of one call. */
const UNASKED_PER_SECOND = 5000;
const PROGRESS_PER_SECOND = 2000;
/** Questions of the upstream that wait for their answers at once. */
const MAX_QUESTIONS = 100;
/** A shorter message cannot be deep. */
const FLAT_BYTES = 2 * MAX_DEPTH;
/** So long after the last thing too much it still counts as flooding. */
const FLOOD_MS = 1000;

/** What the upstream says of its own accord. */
export interface PeerEvents {
  /** The upstream's name. */
  readonly server: string;
  notification(notification: RpcNotification, peer: Peer): void;
  /** A question; its answer, or what is thrown, goes back. `ping` is answered before it gets here. */
  question(
    method: string,
    params: JsonObject | undefined,
    signal: CancelSignal,
    peer: Peer,
  ): Promise<unknown>;
  spent(): void;
  closed(reason: AppError): void;
  /** It sends too much of something; `reason` is a sentence whose subject is the server. */
  bounded(what: string, reason: string): void;
}

/** On whose behalf a request runs; absent for our own. */
export interface Origin {
  caller: Caller;
  listener?: CallListener;
}

export interface RequestOptions {
  signal?: CancelSignal;
  origin?: Origin;
  /** HTTP headers of this request alone. */
  headers?: Record<string, string>;
  /** It waits for as long as the connection lives, and does not keep it from being idle. */
  background?: boolean;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
  method: string;
  origin: Origin | undefined;
  signal: CancelSignal | undefined;
  onAbort: (() => void) | undefined;
  background: boolean;
  /** From its first progress on. */
  progress?: Flow<JsonObject>;
}

/**
 * The JSON-RPC client of one connection. Its ids are its own, so those of two callers never meet; the id is also
 * the progress token. It sets no timers for requests: the pipeline owns the deadline and aborts `signal`.
 * What the upstream says of its own accord is held within bounds; what it is asked for is not.
 */
export class Peer implements TransportEvents {
  private readonly pending = new Map<RpcId, Pending>();
  /** Questions of the upstream that are being answered. */
  private readonly questions = new Map<RpcId, Cancel>();
  private readonly unasked = new Allowance(UNASKED_PER_SECOND);
  private readonly notifications: Flow<RpcNotification>;
  private floodedAt = Number.NEGATIVE_INFINITY;
  private lastSession: string | undefined;
  /** Callers of more than one session have used it. */
  servesMany = false;
  /** A caller's request was cancelled, and the upstream may still be at it. */
  hasAbandoned = false;
  private lastId = 0;
  private closedFor: AppError | undefined;
  private leaving = false;

  constructor(
    private readonly transport: Transport,
    private readonly events: PeerEvents,
  ) {
    this.notifications = new Flow(
      UNASKED_PER_SECOND,
      (notification) => this.events.notification(notification, this),
      () =>
        this.over(
          'notifications',
          `It sends more than ${UNASKED_PER_SECOND} notifications a second; of those that say the same the latest arrives, the others are dropped.`,
        ),
    );
    transport.listen(this);
  }

  get isFlooding(): boolean {
    return performance.now() < this.floodedAt + FLOOD_MS;
  }

  get isClosed(): boolean {
    return this.closedFor !== undefined;
  }

  get isIdle(): boolean {
    for (const { background } of this.pending.values()) if (!background) return false;
    return this.questions.size === 0;
  }

  /** The callers' requests that are waiting for an answer. */
  running(): Origin[] {
    const origins: Origin[] = [];
    for (const { origin } of this.pending.values()) if (origin) origins.push(origin);
    return origins;
  }

  request(method: string, params: JsonObject | undefined, options: RequestOptions = {}): Promise<unknown> {
    const { signal, origin, headers, background = false } = options;
    return new Promise((resolve, reject) => {
      if (this.closedFor) return reject(this.closedFor);
      if (signal?.aborted) return reject(abortReason(signal));
      if (origin && origin.caller.sessionId !== this.lastSession) this.meet(origin.caller);
      const id = ++this.lastId;
      const onAbort = signal && (() => this.cancel(id, abortReason(signal)));
      if (signal && onAbort) signal.addEventListener('abort', onAbort);
      this.pending.set(id, { resolve, reject, method, origin, signal, onAbort, background });
      const message: RpcRequest = { jsonrpc: '2.0', id, method };
      if (params) message.params = origin?.listener?.progress ? withProgressToken(params, id) : params;
      this.transport.send(message, headers);
    });
  }

  notify(method: string, params?: JsonObject): void {
    if (this.closedFor) return;
    this.transport.send(params ? { jsonrpc: '2.0', method, params } : { jsonrpc: '2.0', method });
  }

  /** Tells the upstream of each request that fits, and rejects it. */
  cancelAll(fits: (origin: Origin | undefined) => boolean, reason: AppError): void {
    for (const [id, { origin }] of this.pending) if (fits(origin)) this.cancel(id, reason);
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  message(message: JsonObject, bytes = Number.POSITIVE_INFINITY): void {
    const isTooDeep = bytes > FLAT_BYTES && isDeeperThan(message, MAX_DEPTH);
    if (isTooDeep) this.events.bounded('depth', `It sends JSON of more than ${MAX_DEPTH} levels.`);
    const size = Number.isFinite(bytes) ? bytes : 0;
    if (typeof message.method !== 'string') this.takeAnswer(message, size, isTooDeep);
    else if (isRequest(message)) this.takeQuestion(message, size, isTooDeep);
    else if (!isTooDeep && !this.closedFor)
      this.hear(message.method, isObject(message.params) ? message.params : undefined, size);
  }

  noise(bytes: number): void {
    if (!this.unasked.allows(bytes)) this.over('noise', 'It writes on and on what is no message.');
  }

  failed(id: RpcId | undefined, error: AppError): void {
    // What could not be named is the answer to the only request, if there is only one.
    const only = id === undefined && this.pending.size === 1 ? this.pending.keys().next().value : undefined;
    this.take(id ?? only)?.reject(error);
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
    this.notifications.stop();
    for (const id of [...this.pending.keys()]) this.take(id)?.reject(reason);
    for (const controller of this.questions.values()) controller.abort(reason);
    this.events.closed(reason);
  }

  private take(id: unknown): Pending | undefined {
    if (typeof id !== 'number') return undefined;
    const waiting = this.pending.get(id);
    if (!waiting) return undefined;
    this.pending.delete(id);
    if (waiting.signal && waiting.onAbort) waiting.signal.removeEventListener('abort', waiting.onAbort);
    waiting.progress?.stop();
    if (this.leaving) this.leaveWhenIdle();
    return waiting;
  }

  private meet({ sessionId }: Caller): void {
    this.servesMany ||= this.lastSession !== undefined;
    this.lastSession = sessionId;
  }

  private leaveWhenIdle(): void {
    if (this.isIdle) void this.close();
  }

  private cancel(id: RpcId, reason: Error): void {
    const waiting = this.take(id);
    if (!waiting) return;
    this.hasAbandoned ||= waiting.origin !== undefined;
    // The specification forbids to cancel the handshake.
    if (waiting.method !== 'initialize') {
      this.notify('notifications/cancelled', { requestId: id, reason: reason.message, ...noticeOf(reason) });
    }
    waiting.reject(reason);
  }

  private takeAnswer(message: JsonObject, bytes: number, isTooDeep: boolean): void {
    if (typeof message.id === 'number') this.pending.get(message.id)?.progress?.finish();
    const waiting = this.take(message.id);
    if (!waiting) {
      // A late answer to what was cancelled, or one to nothing.
      if (!this.unasked.allows(bytes)) this.over('answers', 'It answers on and on what it was not asked.');
    } else if (isTooDeep && waiting.method !== 'tools/list') {
      // In a list it is the fault of one tool.
      const sentence = `Server "${this.events.server}" answered ${waiting.method} with JSON of more than ${MAX_DEPTH} levels.`;
      waiting.reject(new AppError('PROVIDER_ERROR', sentence, { details: { levels: MAX_DEPTH } }));
    } else if (isObject(message.error)) waiting.reject(toFailure(message.error));
    else waiting.resolve(message.result);
  }

  private takeQuestion(question: RpcRequest, bytes: number, isTooDeep: boolean): void {
    if (this.closedFor) return;
    if (!this.unasked.allows(bytes)) {
      this.over(
        'questions',
        `It asks more than ${UNASKED_PER_SECOND} questions a second; the rest is refused.`,
      );
      this.refuse(question.id, 'This is more than can be asked in a second.');
    } else if (isTooDeep) this.refuse(question.id, `JSON of more than ${MAX_DEPTH} levels is not taken.`);
    else if (this.questions.size >= MAX_QUESTIONS) {
      this.events.bounded(
        'questions',
        `It asks more than ${MAX_QUESTIONS} questions at once; the rest is refused.`,
      );
      this.refuse(question.id, `${MAX_QUESTIONS} questions are waiting for their answers.`);
    } else void this.answer(question);
  }

  private refuse(id: RpcId, message: string): void {
    this.transport.send({ jsonrpc: '2.0', id, error: { code: RPC.internalError, message } });
  }

  private over(what: string, reason: string): void {
    this.floodedAt = performance.now();
    this.events.bounded(what, reason);
  }

  private hear(method: string, params: JsonObject | undefined, bytes: number): void {
    if (method === 'notifications/progress') {
      const { progressToken, ...progress } = params ?? {};
      const waiting = isToken(progressToken) ? this.pending.get(progressToken) : undefined;
      if (waiting?.origin?.listener?.progress) this.progressOf(waiting).push(progress, bytes, 'latest');
      else this.noise(bytes);
    } else if (method === 'notifications/cancelled') {
      const { requestId, ...notice } = params ?? {};
      const question = isToken(requestId) ? this.questions.get(requestId) : undefined;
      const details = { notice };
      question?.abort(new AppError('CALL_CANCELLED', 'The server withdrew its question.', { details }));
    } else {
      const notification: RpcNotification = params
        ? { jsonrpc: '2.0', method, params }
        : { jsonrpc: '2.0', method };
      this.notifications.push(notification, bytes, subjectOf(notification));
    }
  }

  private progressOf(waiting: Pending): Flow<JsonObject> {
    waiting.progress ??= new Flow(
      PROGRESS_PER_SECOND,
      (progress) => waiting.origin?.listener?.progress?.(progress),
      () =>
        this.over(
          'progress',
          `It tells more than ${PROGRESS_PER_SECOND} steps of one call a second; the latest arrives.`,
        ),
    );
    return waiting.progress;
  }

  private async answer({ id, method, params }: RpcRequest): Promise<void> {
    const controller = new Cancel();
    this.questions.set(id, controller);
    try {
      const result =
        method === 'ping' ? {} : await this.events.question(method, params, controller.signal, this);
      this.reply(controller.signal, { id, result });
    } catch (error) {
      this.reply(controller.signal, { id, error: toRpcError(error) });
    } finally {
      this.questions.delete(id);
    }
  }

  /** A question that was withdrawn gets no answer. */
  private reply(withdrawn: CancelSignal, answer: Omit<RpcResponse, 'jsonrpc'>): void {
    if (!withdrawn.aborted) this.transport.send({ jsonrpc: '2.0', ...answer });
  }
}

const isToken = (value: unknown): value is RpcId => typeof value === 'number' || typeof value === 'string';

/** What says only that something is another now, and of what: the latest says it all. */
function subjectOf({ method, params }: RpcNotification): string | undefined {
  if (method.endsWith('/list_changed')) return method;
  return method === 'notifications/resources/updated' ? `${method} ${params?.uri}` : undefined;
}

function withProgressToken(params: JsonObject, progressToken: number): JsonObject {
  const meta = isObject(params._meta) ? params._meta : undefined;
  return { ...params, _meta: { ...meta, progressToken } };
}

function toFailure({ code, message, data }: JsonObject): RpcFailure {
  const number = typeof code === 'number' ? code : RPC.internalError;
  return new RpcFailure(number, typeof message === 'string' ? message : 'The server gave no reason.', data);
}

function toRpcError(error: unknown): RpcError {
  return error instanceof RpcFailure
    ? error.toError()
    : { code: RPC.internalError, message: messageOf(error) };
}
