import { randomUUID } from 'node:crypto';
import type { Cancel, CancelSignal } from '@mcpbridge/shared/cancel.js';
import { noticeOf } from '@mcpbridge/shared/cancel-notice.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import {
  isObject,
  type JsonObject,
  RpcFailure,
  type RpcId,
  type RpcMessage,
  type RpcNotification,
  type RpcResponse,
} from '@mcpbridge/shared/json-rpc.js';
import { LATEST_LEGACY, LEGACY_VERSIONS } from '@mcpbridge/shared/protocol.js';
import { type Placed, Underway } from '@mcpbridge/shared/underway.js';
import type { Dialect } from '../dialects/dialect.js';
import type { Session, SessionClient } from '../sessions/session.js';
import { ClientStreams } from './client-streams.js';

interface Question {
  resolve(result: unknown): void;
  reject(failure: Error): void;
}

/** `id` is the client's. */
export interface RunningRequest extends Placed {
  id: RpcId;
  abort: Cancel;
}

/** One client of the legacy era between its `initialize` and its end, known by its `Mcp-Session-Id`. */
export class LegacyClient implements SessionClient {
  readonly id = randomUUID();
  readonly capabilities: JsonObject;
  readonly version: string;
  readonly hello: JsonObject;
  /** Name and version as the client gave them. */
  readonly name: string;
  /** Requests of the client that are being answered. */
  readonly running = new Underway<RunningRequest>();
  lastUsedAt = Date.now();
  /** The catalog's version when the client last listed tools; 0: never. */
  listedVersion = 0;
  private readonly questions = new Map<RpcId, Question>();
  readonly streams: ClientStreams;
  private asked = 0;

  constructor(
    readonly session: Session,
    /** The one server of `/mcp/{server}`; undefined at `/mcp`. */
    readonly scope: string | undefined,
    params: JsonObject,
    readonly dialect: Dialect | undefined,
  ) {
    this.hello = params;
    const offered = params.protocolVersion;
    this.version = LEGACY_VERSIONS.find((version) => version === offered) ?? LATEST_LEGACY;
    this.capabilities = isObject(params.capabilities) ? params.capabilities : {};
    const info = isObject(params.clientInfo) ? params.clientInfo : {};
    this.name = `${info.name ?? 'unknown'} ${info.version ?? ''}`.trim();
    session.clients.add(this);
    this.streams = new ClientStreams(this.id, this.version);
  }

  notify(serverId: string, notification: RpcNotification): void {
    const elsewhere = this.scope !== undefined && this.scope !== serverId;
    // Tool lists change in the catalog, which tells every client itself.
    if (!elsewhere && notification.method !== 'notifications/tools/list_changed') this.push(notification);
  }

  /** Kept for its stream if that is not open. */
  push(message: RpcMessage): void {
    this.streams.unasked.send(message);
  }

  ask(
    _serverId: string,
    method: string,
    params: JsonObject | undefined,
    signal: CancelSignal,
  ): Promise<unknown> {
    return this.askBy((message) => this.push(message), method, params, signal);
  }

  /** Sends a request to the client over any way to it and waits for the answer that it posts. */
  askBy(
    send: (message: RpcMessage) => void,
    method: string,
    params: JsonObject | undefined,
    signal: CancelSignal,
  ): Promise<unknown> {
    const id = `q${++this.asked}`;
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        this.questions.delete(id);
        send({
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId: id, reason: 'The call has ended.', ...noticeOf(signal.reason) },
        });
        reject(new AppError('CALL_CANCELLED', `The question ${method} was withdrawn.`));
      };
      signal.addEventListener('abort', withdraw, { once: true });
      const settle = (finish: () => void) => {
        signal.removeEventListener('abort', withdraw);
        finish();
      };
      this.questions.set(id, {
        resolve: (result) => settle(() => resolve(result)),
        reject: (failure) => settle(() => reject(failure)),
      });
      send({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
    });
  }

  /** The client's answer to a question; one to a question that nobody asked is dropped. */
  receive(response: RpcResponse): void {
    const question = response.id === null ? undefined : this.questions.get(response.id);
    if (!question || response.id === null) return;
    this.questions.delete(response.id);
    const { error } = response;
    if (error) question.reject(new RpcFailure(error.code, error.message, error.data));
    else question.resolve(response.result);
  }

  cancel({ requestId, ...notice }: JsonObject): void {
    const failure = new AppError('CALL_CANCELLED', 'The client cancelled the request.', {
      details: { notice },
    });
    this.running.find(({ id }) => id === requestId)?.abort.abort(failure);
  }

  close(): void {
    this.session.clients.delete(this);
    this.streams.end();
    for (const { abort } of this.running)
      abort.abort(new AppError('CALL_CANCELLED', 'The client ended its session.'));
    for (const question of this.questions.values())
      question.reject(new AppError('CALL_CANCELLED', 'The client is gone.'));
    this.questions.clear();
  }
}
