import type { DialectName } from '@mcpbridge/shared/dialect-names.js';
import { toAppError } from '@mcpbridge/shared/errors.js';
import { isCall, isObject, type JsonObject, RPC, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import { claimedVersion, MODERN_VERSIONS } from '@mcpbridge/shared/protocol.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import type { CallPipeline } from '../calls/pipeline.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Exchange } from '../http/exchange.js';
import type { HotRoute } from '../http/routes.js';
import type { Sessions } from '../sessions/sessions.js';
import { Answer } from './answer.js';
import type { MethodContext } from './context.js';
import { dialectsWith } from './dialect-of.js';
import { LegacyClients } from './legacy.js';
import { Methods, rpcError } from './methods.js';
import { ModernRequests } from './modern.js';

interface EndpointDeps {
  catalog: Catalog;
  pipeline: CallPipeline;
  sessions: Sessions;
  /** Of all clients that ask for none. */
  dialect: DialectName | undefined;
}

/** The orchestrator as an MCP server over Streamable HTTP: `/mcp` for all servers, `/mcp/{server}` for one under its own names. */
export class McpEndpoint {
  private readonly methods: Methods;
  private readonly legacy: LegacyClients;
  private readonly modern: ModernRequests;
  private announcement: NodeJS.Timeout | undefined;

  constructor(private readonly deps: EndpointDeps) {
    const { catalog, pipeline, sessions } = deps;
    const dialectOf = dialectsWith(deps.dialect);
    const methods = new Methods(catalog, pipeline);
    this.methods = methods;
    this.legacy = new LegacyClients(sessions, methods, dialectOf);
    this.modern = new ModernRequests(sessions, methods, catalog, dialectOf);
    catalog.onChange(() => this.announceSoon());
  }

  routes(): HotRoute[] {
    const what = { '/mcp': 'all servers', '/mcp/{server}': 'one server, under its own names' };
    return Object.entries(what).flatMap(([path, whose]): HotRoute[] => [
      {
        method: 'POST',
        path,
        summary: `MCP, both eras: ${whose}`,
        forSessions: true,
        body: { type: 'object' },
        handle: (exchange) => this.post(exchange),
      },
      {
        method: 'GET',
        path,
        summary: `MCP, legacy era: the stream of what comes unasked (${whose})`,
        forSessions: true,
        handle: async (exchange) => this.legacy.get(exchange),
      },
      {
        method: 'DELETE',
        path,
        summary: `MCP, legacy era: end the session (${whose})`,
        forSessions: true,
        handle: async (exchange) => this.legacy.delete(exchange),
      },
    ]);
  }

  /** What a prompt or a resource says to a session, as a client of it would read it. */
  read(
    method: string,
    params: JsonObject,
    context: Pick<MethodContext, 'session' | 'abort' | 'listener'>,
  ): Promise<unknown> {
    return this.methods.run(method, params, {
      ...context,
      scope: undefined,
      client: 'orchestrator',
      dialect: undefined,
    });
  }

  close(): void {
    clearTimeout(this.announcement);
    this.legacy.close();
    this.modern.close();
  }

  /** Several changes in a row, as at a start, are one announcement. */
  private announceSoon(): void {
    this.announcement ??= setTimeout(() => {
      this.announcement = undefined;
      this.legacy.toolsChanged(this.deps.catalog.version);
      this.modern.toolsChanged();
    }, 50).unref();
  }

  private async post(exchange: Exchange): Promise<void> {
    let message: JsonObject | undefined;
    try {
      const body = exchange.body();
      const parsed = parseMessage(body instanceof Promise ? await body : body);
      if (Array.isArray(parsed)) return await this.legacy.postBatch(exchange, parsed);
      message = parsed;
      await (isModern(exchange, message) ? this.modern : this.legacy).post(exchange, message);
    } catch (thrown) {
      if (exchange.response.headersSent) throw thrown;
      const id =
        message && (typeof message.id === 'string' || typeof message.id === 'number') ? message.id : null;
      const status = thrown instanceof RpcFailure ? 400 : toAppError(thrown).status;
      new Answer(exchange.response, { mayStream: false }).error(id, rpcError(thrown), status);
    }
  }
}

/** One message, or those of a batch. */
function parseMessage(body: Buffer): JsonObject | JsonObject[] {
  let message: unknown;
  try {
    message = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new RpcFailure(RPC.parseError, `The body is not JSON: ${(error as Error).message}.`);
  }
  if (isMessage(message)) return message;
  if (Array.isArray(message) && message.length > 0 && message.every(isMessage)) return message;
  throw new RpcFailure(RPC.invalidRequest, 'Not a JSON-RPC 2.0 message.');
}

function isMessage(value: unknown): value is JsonObject {
  return isObject(value) && value.jsonrpc === '2.0';
}

/** The body decides; the header alone only for messages that cannot carry metadata. */
function isModern({ request }: Exchange, message: JsonObject): boolean {
  if (claimedVersion(message) !== undefined) return true;
  const named = MODERN_VERSIONS.some((version) => version === request.headers[HEADER.mcpVersion]);
  return named && isCall(message) && message.method !== 'initialize';
}
