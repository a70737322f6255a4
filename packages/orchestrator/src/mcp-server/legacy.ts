import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import {
  isCall,
  isObject,
  isRequest,
  isResponse,
  type JsonObject,
  RPC,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import { onCallerGone } from '../http/caller-gone.js';
import { namedSession } from '../http/caller-session.js';
import { type Exchange, header } from '../http/exchange.js';
import type { Sessions } from '../sessions/sessions.js';
import { Answer } from './answer.js';
import { LegacyClient } from './legacy-client.js';
import { inLegacyShape } from './legacy-shapes.js';
import { listenerFor, type Methods, respond } from './methods.js';
import type { ResumableStream } from './resumable.js';
import { SlowAnswers } from './slow-answers.js';

const IDLE_MS = 30 * 60_000;

/** Clients of the legacy era: `initialize` opens one, its `Mcp-Session-Id` names it, DELETE or the session's end closes it. */
export class LegacyClients {
  private readonly clients = new Map<string, LegacyClient>();
  private readonly slow = new SlowAnswers();
  private readonly sweep = setInterval(() => this.closeIdle(), 60_000).unref();

  constructor(
    private readonly sessions: Sessions,
    private readonly methods: Methods,
  ) {
    sessions.onEnd((session) => {
      for (const client of this.clients.values()) if (client.session === session) this.forget(client);
    });
  }

  async post(exchange: Exchange, message: JsonObject): Promise<void> {
    if (message.method === 'initialize' && isRequest(message)) return this.initialize(exchange, message);
    const client = this.clientOf(exchange);
    if (isRequest(message)) return this.answerRequest(exchange, client, message);
    const answer = new Answer(exchange.response, { mayStream: false });
    if (isResponse(message)) client.receive(message);
    else if (isCall(message))
      this.take(client, message.method, isObject(message.params) ? message.params : {});
    else return answer.error(null, { code: RPC.invalidRequest, message: 'Not a JSON-RPC message.' }, 400);
    answer.empty();
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
    const session =
      (await namedSession(this.sessions, exchange)) ?? (await this.sessions.fresh(principal.id, 'client'));
    session.meet('legacy');
    const client = new LegacyClient(session, params.server, message.params ?? {});
    this.clients.set(client.id, client);
    const answer = new Answer(response, { mayStream: false, headers: { [HEADER.mcpSession]: client.id } });
    try {
      answer.result(message.id, await this.methods.initialize(session, params.server, client.version));
    } catch (thrown) {
      this.forget(client);
      throw thrown;
    }
  }

  private async answerRequest(exchange: Exchange, client: LegacyClient, message: RpcRequest): Promise<void> {
    const abort = new Cancel();
    client.running.set(message.id, abort);
    const answer = this.answerTo(exchange, client, abort);
    const ask = (method: string, params: JsonObject | undefined, signal: CancelSignal) =>
      client.askBy((question) => answer.send(question), method, params, signal);
    try {
      if (message.method === 'tools/list') client.listedVersion = this.methods.catalogVersion;
      const context = {
        session: client.session,
        scope: client.scope,
        client: client.name,
        abort,
        listener: listenerFor((note) => answer.send(note), message, ask),
      };
      const { method, params = {} } = message;
      const run = async () => inLegacyShape(method, await this.methods.run(method, params, context));
      await respond(answer, message, abort, run);
    } finally {
      this.slow.delete(answer);
      client.running.delete(message.id);
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
    let stream: ResumableStream | undefined;
    const openStream = () => (stream = client.streams.openAnswer(response, gone));
    response.on('close', () => {
      if (!stream && !response.writableFinished) gone();
    });
    const answer = new Answer(response, { mayStream, openStream });
    if (client.streams.primed) this.slow.add(answer);
    return answer;
  }

  private take(client: LegacyClient, method: string, params: JsonObject): void {
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
    if (client === undefined || client.session.owner !== principal.id || client.scope !== params.server) {
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

export function acceptsStream({ request }: Exchange): boolean {
  return (header(request, 'accept') ?? '').includes('text/event-stream');
}
