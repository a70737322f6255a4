import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { noticeOf } from '@mcpbridge/shared/cancel-notice.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
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
import type { Transport, TransportEvents } from './transport.js';

/** What the upstream says of its own accord. */
export interface PeerEvents {
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
}

/**
 * The JSON-RPC client of one connection. Its ids are its own, so those of two callers never meet; the id is also
 * the progress token. It sets no timers: the pipeline owns the deadline and aborts `signal`.
 */
export class Peer implements TransportEvents {
  private readonly pending = new Map<RpcId, Pending>();
  /** Questions of the upstream that are being answered. */
  private readonly questions = new Map<RpcId, Cancel>();
  private lastId = 0;
  private closedFor: AppError | undefined;
  private leaving = false;

  constructor(
    private readonly transport: Transport,
    private readonly events: PeerEvents,
  ) {
    transport.listen(this);
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

  message(message: JsonObject): void {
    if (typeof message.method === 'string') {
      if (isRequest(message)) void this.answer(message);
      else this.hear(message.method, isObject(message.params) ? message.params : undefined);
      return;
    }
    const waiting = this.take(message.id);
    // A late answer to what was cancelled, or one to nothing.
    if (!waiting) return;
    if (isObject(message.error)) waiting.reject(toFailure(message.error));
    else waiting.resolve(message.result);
  }

  failed(id: RpcId | undefined, error: AppError): void {
    // What could not be named is the answer to the only request, if there is only one.
    const only = id === undefined && this.pending.size === 1 ? this.pending.keys().next().value : undefined;
    this.take(id ?? only)?.reject(error);
  }

  spent(): void {
    this.leaving = true;
    this.events.spent();
    this.leaveWhenIdle();
  }

  closed(reason: AppError): void {
    this.closedFor = reason;
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
    if (this.leaving) this.leaveWhenIdle();
    return waiting;
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

  private hear(method: string, params: JsonObject | undefined): void {
    if (method === 'notifications/progress') {
      const { progressToken, ...progress } = params ?? {};
      const waiting = isToken(progressToken) ? this.pending.get(progressToken) : undefined;
      waiting?.origin?.listener?.progress?.(progress);
    } else if (method === 'notifications/cancelled') {
      const { requestId, ...notice } = params ?? {};
      const question = isToken(requestId) ? this.questions.get(requestId) : undefined;
      const details = { notice };
      question?.abort(new AppError('CALL_CANCELLED', 'The server withdrew its question.', { details }));
    } else {
      this.events.notification(
        params ? { jsonrpc: '2.0', method, params } : { jsonrpc: '2.0', method },
        this,
      );
    }
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
