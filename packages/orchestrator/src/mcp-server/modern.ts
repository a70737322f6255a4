import {
  isObject,
  isRequest,
  type JsonObject,
  RPC,
  RpcFailure,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import {
  claimedVersion,
  META,
  MODERN_VERSIONS,
  namedTarget,
  readHeaderValue,
} from '@mcpbridge/shared/protocol.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import type { Catalog } from '../catalog/catalog.js';
import { callerSession } from '../http/caller-session.js';
import type { Exchange } from '../http/routes.js';
import type { Session } from '../sessions/session.js';
import type { Sessions } from '../sessions/sessions.js';
import { Answer } from './answer.js';
import { SERVER_INFO } from './context.js';
import { acceptsStream } from './legacy.js';
import { Listening } from './listening.js';
import { listenerFor, type Methods, onCallerGone, respond } from './methods.js';

const LIST_TTL_MS = 30_000;
const METHODS = new Set([
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
]);
const CACHEABLE = new Set([
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
]);

/** Requests of the modern era: each stands alone and says its version and its client in `_meta`. */
export class ModernRequests {
  private readonly listening = new Set<Listening>();

  constructor(
    private readonly sessions: Sessions,
    private readonly methods: Methods,
    private readonly catalog: Catalog,
  ) {}

  async post(exchange: Exchange, message: JsonObject): Promise<void> {
    const answer = new Answer(exchange.response, acceptsStream(exchange));
    if (!isRequest(message)) return answer.empty();
    checkEnvelope(exchange, message);
    const session = await callerSession(this.sessions, exchange);
    if (message.method === 'subscriptions/listen') return this.listen(exchange, session, message);
    const abort = new AbortController();
    onCallerGone(exchange.response, abort);
    if (!METHODS.has(message.method)) {
      const text = `Method ${JSON.stringify(message.method)} is not known in ${MODERN_VERSIONS[0]}.`;
      return answer.error(message.id, { code: RPC.methodNotFound, message: text }, 404);
    }
    await respond(answer, message, abort, async () =>
      stamp(message.method, await this.run(exchange, session, message, answer, abort)),
    );
  }

  /** Tells who listens for it that tools were added, changed or removed. */
  toolsChanged(): void {
    for (const listening of this.listening)
      listening.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  }

  close(): void {
    for (const listening of this.listening) listening.end();
  }

  private async run(
    exchange: Exchange,
    session: Session,
    message: RpcRequest,
    answer: Answer,
    abort: AbortController,
  ): Promise<unknown> {
    const { method, params = {} } = message;
    const scope = exchange.params.server;
    if (method === 'server/discover') {
      return { supportedVersions: MODERN_VERSIONS, ...(await this.methods.about(session, scope)) };
    }
    return this.methods.run(method, params, {
      session,
      scope,
      client: clientName(params),
      abort,
      listener: listenerFor(answer, message),
    });
  }

  private async listen(exchange: Exchange, session: Session, message: RpcRequest): Promise<void> {
    const wanted = message.params?.notifications;
    if (!isObject(wanted))
      throw new RpcFailure(RPC.invalidParams, 'subscriptions/listen needs params.notifications.');
    await this.catalog.settled();
    const listening = new Listening(exchange.response, session, exchange.params.server, message.id, wanted);
    this.listening.add(listening);
    exchange.response.on('close', () => this.listening.delete(listening));
  }
}

/** @throws RpcFailure as the 2026-07-28 specification has it: unsupported version, missing metadata, headers that differ from the body. */
function checkEnvelope(exchange: Exchange, message: RpcRequest): void {
  const version = claimedVersion(message);
  if (!MODERN_VERSIONS.some((known) => known === version)) {
    const data = { supported: MODERN_VERSIONS, requested: version };
    throw new RpcFailure(
      RPC.unsupportedVersion,
      `Protocol version ${JSON.stringify(version)} is not supported.`,
      data,
    );
  }
  const meta = message.params?._meta;
  if (!isObject(meta) || !isObject(meta[META.clientCapabilities])) {
    throw new RpcFailure(RPC.invalidParams, `_meta["${META.clientCapabilities}"] is missing.`);
  }
  checkHeader(exchange, HEADER.mcpVersion, version);
  checkHeader(exchange, HEADER.mcpMethod, message.method);
  const named = namedTarget(message.method, message.params);
  if (named !== undefined) checkHeader(exchange, HEADER.mcpName, named);
}

/** Whoever decides by a header must be able to trust that the body says the same (SEP-2243). */
function checkHeader({ request }: Exchange, name: string, inBody: unknown): void {
  const value = request.headers[name];
  if (typeof value === 'string' && readHeaderValue(value) === inBody) return;
  const said = value === undefined ? 'is missing' : `says ${JSON.stringify(value)}`;
  throw new RpcFailure(RPC.headerMismatch, `The ${name} header ${said}, the body ${JSON.stringify(inBody)}.`);
}

function clientName(params: JsonObject): string {
  const info = isObject(params._meta) ? params._meta[META.clientInfo] : undefined;
  return isObject(info) ? `${info.name ?? 'unknown'} ${info.version ?? ''}`.trim() : 'unknown';
}

/** What every result of this era must carry, where the answer does not say it already. */
function stamp(method: string, result: unknown): unknown {
  if (!isObject(result)) return result;
  const cache = CACHEABLE.has(method) ? { ttlMs: LIST_TTL_MS, cacheScope: 'private' } : {};
  const meta = isObject(result._meta) ? result._meta : {};
  return { resultType: 'complete', ...cache, ...result, _meta: { [META.serverInfo]: SERVER_INFO, ...meta } };
}
