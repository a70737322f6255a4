import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import {
  isCall,
  isObject,
  isRequest,
  isResponse,
  type JsonObject,
  RPC,
  RpcFailure,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import { onCallerGone } from '../http/caller-gone.js';
import { namedSession } from '../http/caller-session.js';
import { type Exchange, header } from '../http/exchange.js';
import type { Sessions } from '../sessions/sessions.js';
import { Answer } from './answer.js';
import { Batch } from './batch.js';
import { traceOf } from './context.js';
import type { DialectOf } from './dialect-of.js';
import { LegacyClient, type RunningRequest } from './legacy-client.js';
import { inLegacyShape } from './legacy-shapes.js';
import { listenerFor, type Methods, respond } from './methods.js';
import type { ResumableStream } from './resumable.js';
import { SlowAnswers } from './slow-answers.js';

/** The revision that has batches. */
const BATCHES_IN = '2025-03-26';
const IDLE_MS = 30 * 60_000;

/** Clients of the legacy era: `initialize` opens one, its `Mcp-Session-Id` names it, DELETE or the session's end closes it. */
export class LegacyClients {
  private readonly clients = new Map<string, LegacyClient>();
  private readonly slow = new SlowAnswers();
  private readonly sweep = setInterval(() => this.closeIdle(), 60_000).unref();

  constructor(
    private readonly sessions: Sessions,
    private readonly methods: Methods,
    private readonly dialectOf: DialectOf,
  ) {
    sessions.on('end', (session) => {
      for (const client of this.clients.values()) if (client.session === session) this.forget(client);
    });
  }

  /** Answers, or throws, at once what wants no answer. */
  post(exchange: Exchange, message: JsonObject): Promise<void> | undefined {
    if (message.method === 'initialize' && isRequest(message)) return this.initialize(exchange, message);
    const client = this.clientOf(exchange);
    if (isRequest(message)) {
      const abort = new Cancel();
      return this.answerRequest(exchange, client, message, abort, this.answerTo(exchange, client, abort));
    }
    this.take(client, message);
    new Answer(exchange.response, { mayStream: false }).empty();
    return undefined;
  }

  /** Several messages at once, which one revision of the protocol had. */
  async postBatch(exchange: Exchange, messages: readonly JsonObject[]): Promise<void> {
    const client = this.clientOf(exchange);
    if (client.version !== BATCHES_IN) {
      const text = `Batches are of revision ${BATCHES_IN} alone, and this client speaks ${client.version}: send one message a request.`;
      throw new RpcFailure(RPC.invalidRequest, text);
    }
    const { response } = exchange;
    const requests = messages.filter(isRequest);
    for (const message of messages) if (!isRequest(message)) this.take(client, message);
    if (requests.length === 0) return new Answer(response, { mayStream: false }).empty();
    const batch = new Batch(response, requests.length, acceptsStream(exchange));
    const answers = requests.map((message) => {
      const abort = new Cancel();
      onCallerGone(response, abort);
      const answer = new Answer(response, { mayStream: true, openStream: () => batch.part() });
      answer.open();
      return this.answerRequest(exchange, client, message, abort, answer);
    });
    await Promise.all(answers);
  }

  /** The client's stream for what comes unasked. */
  get(exchange: Exchange): void {
    if (!acceptsStream(exchange)) {
      throw new AppError('INVALID_REQUEST', 'GET on /mcp opens an event stream: accept text/event-stream.');
    }
    this.clientOf(exchange).streams.open(exchange.response, header(exchange.request, 'last-event-id'));
  }

  delete(exchange: Exchange): void {
    const client = this.clientOf(exchange);
    this.forget(client);
    exchange.response.writeHead(204, {}).end();
  }

  /** Tells every client that has listed tools before `version` that the list is another now. */
  toolsChanged(version: number): void {
    for (const client of this.clients.values()) {
      if (client.listedVersion === 0 || client.listedVersion >= version) continue;
      client.listedVersion = 0;
      client.push({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    }
  }

  close(): void {
    clearInterval(this.sweep);
    for (const client of this.clients.values()) this.forget(client);
  }

  private async initialize(exchange: Exchange, message: RpcRequest): Promise<void> {
    const { principal, params, response } = exchange;
    const dialect = this.dialectOf(exchange, message.params?.clientInfo);
    const session =
      (await namedSession(this.sessions, exchange)) ?? (await this.sessions.fresh(principal, 'client'));
    session.meet('legacy');
    const client = new LegacyClient(session, params.server, message.params ?? {}, dialect);
    this.clients.set(client.id, client);
    const answer = new Answer(response, { mayStream: false, headers: { [HEADER.mcpSession]: client.id } });
    try {
      answer.result(message.id, await this.methods.initialize(session, params.server, client.version));
    } catch (thrown) {
      this.forget(client);
      throw thrown;
    }
  }

  private async answerRequest(
    exchange: Exchange,
    client: LegacyClient,
    message: RpcRequest,
    abort: Cancel,
    answer: Answer,
  ): Promise<void> {
    const running: RunningRequest = { id: message.id, abort, place: 0 };
    client.running.add(running);
    const ask = (method: string, params: JsonObject | undefined, signal: CancelSignal) =>
      client.askBy((question) => answer.send(question), method, params, signal);
    const listener = listenerFor((note) => answer.send(note), message, ask);
    if (client.streams.primes(exchange)) listener.paused = () => answer.pause();
    try {
      if (message.method === 'tools/list') client.listedVersion = this.methods.catalogVersion;
      const context = {
        session: client.session,
        scope: client.scope,
        client: client.name,
        dialect: client.dialect,
        trace: traceOf(exchange),
        requestId: message.id,
        abort,
        listener,
      };
      const { method, params = {} } = message;
      const run = () => this.methods.run(method, params, context);
      await respond(answer, message, abort, run, (result) => inLegacyShape(method, result));
    } finally {
      this.slow.delete(answer);
      client.running.delete(running);
    }
  }

  /** A stream that its client can come back for survives its connection; all else ends with it, a bridge's too. */
  private answerTo(exchange: Exchange, client: LegacyClient, abort: Cancel): Answer {
    const { request, response } = exchange;
    const gone = () => abort.abort(new AppError('CALL_CANCELLED', 'The caller went away.'));
    const mayStream = acceptsStream(exchange);
    if (!mayStream || header(request, HEADER.session) !== undefined) {
      onCallerGone(response, abort);
      return new Answer(response, { mayStream });
    }
    const primed = client.streams.primes(exchange);
    let stream: ResumableStream | undefined;
    const openStream = () => (stream = client.streams.openAnswer(response, primed, gone));
    response.on('close', () => {
      if (!stream && !response.writableFinished) gone();
    });
    const answer = new Answer(response, { mayStream, openStream });
    if (prefersStream(exchange)) answer.open();
    else if (primed) this.slow.add(answer);
    return answer;
  }

  /** What wants no answer. */
  private take(client: LegacyClient, message: JsonObject): void {
    if (isResponse(message)) {
      client.receive(message);
      return;
    }
    if (!isCall(message)) throw new RpcFailure(RPC.invalidRequest, 'Not a JSON-RPC message.');
    const { method } = message;
    const params = isObject(message.params) ? message.params : {};
    if (method === 'notifications/cancelled') client.cancel(params);
    else if (method === 'notifications/initialized') return;
    // At `/mcp` nothing says to which server any other belongs.
    else if (method === 'notifications/roots/list_changed' || client.scope !== undefined)
      this.methods.tellUpstreams(client.session, client.scope, method, params);
  }

  /** A stranger's client and a missing one get the same answer: 404, on which a client initializes anew. */
  private clientOf({ request, principal, params }: Exchange): LegacyClient {
    const id = request.headers[HEADER.mcpSession];
    if (typeof id !== 'string') {
      throw new AppError(
        'INVALID_REQUEST',
        'The Mcp-Session-Id header is missing: send initialize first, then what it answered in that header.',
      );
    }
    const client = this.clients.get(id);
    const isTheirs =
      client?.session.owner === principal.id &&
      (principal.sessionId === undefined || principal.sessionId === client.session.sessionId);
    if (client === undefined || !isTheirs || client.scope !== params.server) {
      throw new AppError('SESSION_NOT_FOUND', 'This MCP session is not known here: initialize again.');
    }
    client.lastUsedAt = Date.now();
    this.sessions.hold(client.session, request.socket);
    return client;
  }

  private forget(client: LegacyClient): void {
    this.clients.delete(client.id);
    client.close();
    const { session } = client;
    if (session.lifetime === 'client' && session.clients.size === 0) void this.sessions.end(session);
  }

  private closeIdle(): void {
    const before = Date.now() - IDLE_MS;
    for (const client of this.clients.values()) {
      client.streams.forgetOld();
      if (client.lastUsedAt < before && !client.streams.unasked.isConnected && client.running.size === 0)
        this.forget(client);
    }
  }
}

/** It names streams first: it would rather be able to come back for its answer than have it as one piece. */
function prefersStream({ request }: Exchange): boolean {
  return header(request, 'accept')?.startsWith('text/event-stream') ?? false;
}

export function acceptsStream({ request }: Exchange): boolean {
  return (header(request, 'accept') ?? '').includes('text/event-stream');
}
