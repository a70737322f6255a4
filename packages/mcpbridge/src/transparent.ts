import {
  isObject,
  isRequest,
  type JsonObject,
  type RpcId,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import { type Placed, Underway } from '@mcpbridge/shared/underway.js';
import { BrokenOff, discard, type RawHeaders } from './attempt.js';
import type { BridgeLog } from './bridge-log.js';
import { startCallTimer } from './call-timer.js';
import type { ClientPipe } from './client-pipe.js';
import { type Answer, Connection } from './connection.js';
import { MCP_HEADERS, modernHeaders, refusalOf } from './endpoint.js';
import { BridgeFailure, bridgeFailure, failureAnswer } from './failure.js';
import { LegacySession, type SendOptions } from './legacy-session.js';
import type { ReadyFile } from './ready-file.js';
import { receive } from './receive.js';
import { withResends } from './resend.js';
import type { BridgeSettings } from './settings.js';
import { Stop } from './stop.js';

/** A request of the client that has no answer yet. */
interface Pending extends Placed {
  id: RpcId;
  stop: Stop;
  /** Headers of the modern era; undefined for a legacy request. */
  modern: RawHeaders | undefined;
  /** All of it has gone out, so it may be running. */
  written: boolean;
  /** The client has cancelled it: a failure would answer nobody. */
  withdrawn: boolean;
}

/** Carries every message of the client to `/mcp` and every message of the orchestrator back, whole. */
export class TransparentBridge {
  private readonly connection: Connection;
  private readonly session: LegacySession;
  private readonly pending = new Underway<Pending>();

  constructor(
    private readonly settings: BridgeSettings,
    private readonly client: ClientPipe,
    private readonly readyFile: ReadyFile,
    private readonly log: BridgeLog,
  ) {
    this.connection = new Connection(settings, log);
    this.session = new LegacySession(this.connection, (parts) => client.sendBytes(parts), log);
  }

  handle(message: JsonObject, line: Buffer): void {
    if (isRequest(message)) void this.request(message, line);
    else if (message.method === 'notifications/cancelled') this.cancel(message, line);
    else void this.deliver(message, line);
  }

  /** Carries a request and sees to it that it gets an answer, whatever happens on the way. */
  private async request(message: RpcRequest & JsonObject, line: Buffer): Promise<void> {
    const { id, method } = message;
    const pending = this.begin(message);
    const started = performance.now();
    const limitMs = method === 'tools/call' ? this.settings.toolTimeoutMs : 0;
    const stopTimer = startCallTimer(pending.stop, limitMs);
    try {
      const exchange = withResends(
        (broken) => !pending.stop.isFired && (!broken.whole || method !== 'tools/call'),
        () => this.exchange(message, line, pending),
      );
      if (opensSession(message, pending)) this.session.holdBack(exchange);
      await exchange;
      if (method === 'tools/list') this.readyFile.write();
    } catch (thrown) {
      const reason: unknown = pending.stop.isFired ? pending.stop.reason : thrown;
      if (!pending.withdrawn) this.fail(message, reason, pending.modern !== undefined);
    } finally {
      stopTimer();
      this.pending.delete(pending);
      if (this.log.isKept) this.log.note(`${method} ${id}: ${(performance.now() - started).toFixed(1)} ms`);
    }
  }

  private begin(message: RpcRequest & JsonObject): Pending {
    const pending: Pending = {
      id: message.id,
      place: 0,
      stop: new Stop(),
      modern: modernHeaders(message),
      written: false,
      withdrawn: false,
    };
    this.pending.add(pending);
    return pending;
  }

  private async exchange(message: RpcRequest & JsonObject, line: Buffer, pending: Pending): Promise<void> {
    pending.written = false;
    const options: SendOptions = { stop: pending.stop, onWritten: () => (pending.written = true) };
    const take = (answer: Answer) => this.passOn(message, answer, pending);
    if (opensSession(message, pending)) await this.session.open(message.id, line, options, take);
    else await take(await this.send(line, pending.modern, options));
  }

  private async passOn(message: RpcRequest, answer: Answer, pending: Pending): Promise<Buffer[] | undefined> {
    if (answer.refusal) return this.passRefusal(message, answer, answer.refusal);
    const reply = await receive(answer, message.id, (parts) => this.client.sendBytes(parts));
    if (!reply && !pending.withdrawn) throw new BrokenOff('it ended without an answer', true);
    return reply;
  }

  private send(line: Buffer, modern: RawHeaders | undefined, options: SendOptions): Promise<Answer> {
    if (!modern) return this.session.send(line, options);
    const headers = [...MCP_HEADERS, ...modern];
    return this.connection.send({
      method: 'POST',
      path: this.connection.mcpPath,
      headers,
      body: line,
      ...options,
    });
  }

  /** A JSON-RPC error that answers this very request is the orchestrator's own word; anything else is explained. */
  private passRefusal(message: RpcRequest, answer: Answer, refusal: Buffer): undefined {
    if (answer.status === 401 || !isErrorFor(message.id, refusal)) {
      throw refusalOf(answer, refusal, this.connection);
    }
    this.client.sendBytes([refusal]);
  }

  /** Notifications, and answers to what the orchestrator asked: nobody waits for a reply. */
  private async deliver(message: JsonObject, line: Buffer): Promise<void> {
    try {
      if (message.method === 'notifications/initialized') return await this.session.confirm(line);
      await withResends(
        () => true,
        async () => {
          const answer = await this.send(line, modernHeaders(message), {});
          if (answer.refusal) throw refusalOf(answer, answer.refusal, this.connection);
          discard(answer.stream);
        },
      );
    } catch (error) {
      const what = typeof message.method === 'string' ? message.method : 'an answer of the client';
      this.log.warn(`${what} could not be delivered: ${failureOf(error, what).failure.message}`);
    }
  }

  /** What is not under way needs no cancelling; closing a modern request is its cancellation. */
  private cancel(message: JsonObject, line: Buffer): void {
    const id = isObject(message.params) ? message.params.requestId : undefined;
    const pending = this.pending.find((one) => one.id === id);
    if (!pending) return;
    pending.withdrawn = true;
    if (pending.modern || !pending.written) pending.stop.fire(undefined);
    else void this.deliver(message, line);
  }

  private fail(message: RpcRequest, reason: unknown, modern: boolean): void {
    const { failure } = failureOf(reason, `"${message.method}"`);
    this.log.note(`${message.method} ${message.id} failed: ${failure.code} ${failure.message}`);
    this.client.send({ jsonrpc: '2.0', id: message.id, ...failureAnswer(message.method, failure, modern) });
  }
}

function failureOf(reason: unknown, what: string): BridgeFailure {
  if (reason instanceof BridgeFailure) return reason;
  if (!(reason instanceof BrokenOff)) return bridgeFailure('INTERNAL', String(reason));
  const fate = reason.whole
    ? 'It may or may not have been carried out: check before doing it again.'
    : 'It was not carried out.';
  return bridgeFailure('CONNECTION_LOST', `The connection broke during ${what} (${reason.message}). ${fate}`);
}

function opensSession(message: RpcRequest, pending: Pending): boolean {
  return message.method === 'initialize' && !pending.modern;
}

function isErrorFor(id: RpcId, body: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isObject(value) && value.jsonrpc === '2.0' && value.id === id && isObject(value.error);
  } catch {
    // Not JSON, so not JSON-RPC.
    return false;
  }
}
