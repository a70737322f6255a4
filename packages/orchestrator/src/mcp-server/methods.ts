import type { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError, failureText, toAppError } from '@mcpbridge/shared/errors.js';
import {
  isObject,
  isRpcId,
  type JsonObject,
  RPC,
  type RpcError,
  RpcFailure,
  type RpcMessage,
  type RpcRequest,
} from '@mcpbridge/shared/json-rpc.js';
import { META } from '@mcpbridge/shared/protocol.js';
import { type ToolDefinition, textResult } from '@mcpbridge/shared/tools.js';
import type { TraceContext } from '@mcpbridge/shared/trace-context.js';
import type { CallPipeline } from '../calls/pipeline.js';
import type { Catalog } from '../catalog/catalog.js';
import type { Dialect } from '../dialects/dialect.js';
import { type SpokenList, spokenList } from '../dialects/spoken-list.js';
import { type CallListener, isRelay } from '../providers/provider.js';
import type { Session } from '../sessions/session.js';
import type { Answer } from './answer.js';
import { type MethodContext, SERVER_INFO } from './context.js';
import { Relay } from './relay.js';
import { isOfTasks } from './tasks.js';

/** Who has which list before them. */
type Speaker = Pick<MethodContext, 'session' | 'scope' | 'dialect'>;

/** What both eras answer alike: the methods of MCP over the catalog, the pipeline and the upstreams. */
export class Methods {
  private readonly relay: Relay;

  constructor(
    private readonly catalog: Catalog,
    private readonly pipeline: CallPipeline,
  ) {
    this.relay = new Relay(catalog);
  }

  get catalogVersion(): number {
    return this.catalog.version;
  }

  run(method: string, params: JsonObject, context: MethodContext): Promise<unknown> {
    if (method === 'tools/call') return this.callTool(params, context);
    if (method === 'tools/list') return this.listTools(context);
    if (method === 'ping') return Promise.resolve({});
    return this.relay.run(method, params, context);
  }

  /** True when the server is known to speak the modern era. */
  isModern(server: string): boolean {
    const provider = this.catalog.provider(server);
    return provider !== undefined && isRelay(provider) && provider.about?.era === 'modern';
  }

  /** Methods of extensions are known to the server that has them; at `/mcp` one can tell whose a task is, and nothing else. */
  isOfExtension(method: string, session: Session, scope: string | undefined): boolean {
    return scope === undefined ? isOfTasks(method) && this.relay.hasTasks(session) : this.isModern(scope);
  }

  listenForTasks(
    taskIds: readonly string[],
    context: MethodContext,
    onEnd: () => void,
  ): Promise<readonly string[]> {
    return this.relay.listenForTasks(taskIds, context, onEnd);
  }

  /** As the client has it from its list. */
  toolOf(context: Speaker, name: unknown): ToolDefinition | undefined {
    const { session, scope, dialect } = context;
    const view = this.catalog.view(session.sessionId);
    const spoken = dialect && this.spoken(dialect, context).tool(String(name));
    if (spoken) return spoken;
    const tool = scope === undefined ? view.tool(String(name)) : view.find(scope, String(name));
    return tool?.definition;
  }

  /** The legacy handshake's result. */
  async initialize(
    session: Session,
    scope: string | undefined,
    protocolVersion: string,
  ): Promise<JsonObject> {
    const { protocolVersion: spoken, ...about } = await this.about(session, scope);
    // A server that speaks an older revision than the client asked for is answered for in its own.
    const older = typeof spoken === 'string' && spoken < protocolVersion ? spoken : protocolVersion;
    return { serverInfo: SERVER_INFO, ...about, protocolVersion: older };
  }

  /** Capabilities and instructions: of the one server, or of all that are known. */
  about(session: Session, scope: string | undefined): Promise<JsonObject> | JsonObject {
    return scope === undefined ? this.relay.aboutAll(session) : this.relay.aboutOne(session, scope);
  }

  tellUpstreams(session: Session, scope: string | undefined, method: string, params: JsonObject): void {
    this.relay.tell(session, scope, method, params);
  }

  private noteTask(session: Session, tool: string, result: JsonObject): void {
    const server = this.catalog.view(session.sessionId).tool(tool)?.provider.id;
    if (server !== undefined) this.relay.tasks.note(session, server, result);
  }

  /** The list that the client sees, in its dialect. */
  private spoken(dialect: Dialect, { scope, session }: Speaker): SpokenList {
    const view = this.catalog.view(session.sessionId);
    return scope === undefined
      ? spokenList(dialect, view.shown(session.effective), 'exposed')
      : spokenList(dialect, view.toolsOf(scope), 'definition');
  }

  private async listTools(context: MethodContext): Promise<JsonObject> {
    const { scope, session, dialect } = context;
    if (scope !== undefined) {
      const provider = this.catalog.provider(scope);
      if (provider && !provider.listed) await provider.refresh();
      return {
        ...provider?.listedFor(session.sessionId)?.more,
        tools: dialect
          ? this.spoken(dialect, context).tools
          : this.catalog
              .view(session.sessionId)
              .toolsOf(scope)
              .map((tool) => tool.definition),
      };
    }
    await this.catalog.settled();
    if (dialect) return { tools: this.spoken(dialect, context).tools };
    return { tools: this.catalog.view(session.sessionId).listed(session.effective) };
  }

  private async callTool(params: JsonObject, context: MethodContext): Promise<unknown> {
    const { scope, session, client, abort, listener, dialect, trace, requestId } = context;
    const { name: said, arguments: args, _meta } = params;
    if (typeof said !== 'string')
      throw new RpcFailure(RPC.invalidParams, 'tools/call needs params.name, a string.');
    const name = dialect ? this.spoken(dialect, context).ownName(said) : said;
    const meta = withTrace(passedOn(_meta), trace);
    const target = scope === undefined ? { name } : { server: scope, tool: name };
    try {
      const result = await this.pipeline.run({
        session,
        target,
        args,
        more: othersOf(params),
        client,
        abort,
        listener,
        meta,
        requestId,
      });
      if (scope === undefined && result.resultType === 'task') this.noteTask(session, name, result);
      return result;
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code !== 'CALL_CANCELLED') return failureResult(thrown);
      throw thrown;
    }
  }
}

/** Failures of a call go to the model as text; some clients hide the text of a JSON-RPC error (clients.md, Features). */
function failureResult(failure: AppError): JsonObject {
  const body = failure.toBody();
  return { ...textResult(failureText(body), true), _meta: { 'mcpbridge/error': body } };
}

const READ_HERE = new Set(['name', 'arguments', '_meta', 'inputResponses', 'requestState']);

/** Members of a call that we do not know, for the server; undefined when there are none, as nearly always. */
function othersOf(params: JsonObject): JsonObject | undefined {
  for (const key in params) {
    if (READ_HERE.has(key)) continue;
    return Object.fromEntries(Object.entries(params).filter(([name]) => !READ_HERE.has(name)));
  }
  return undefined;
}

const OURS = new Set<string>([
  'progressToken',
  META.protocolVersion,
  META.clientInfo,
  META.clientCapabilities,
  META.logLevel,
]);

/** The client's `_meta` less what is spoken between it and us alone. */
function passedOn(meta: unknown): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const kept = Object.entries(meta).filter(([key]) => !OURS.has(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** A trace that is named in the request goes before that of its headers. */
function withTrace(meta: JsonObject | undefined, trace: TraceContext | undefined): JsonObject | undefined {
  return trace === undefined || meta?.traceparent !== undefined ? meta : { ...meta, ...trace };
}

/** What happens during a request goes to the stream of that request alone. */
export function listenerFor(
  send: (message: RpcMessage) => void,
  message: RpcRequest,
  ask?: CallListener['ask'],
): CallListener {
  const meta = message.params?._meta;
  const progressToken = isObject(meta) && isRpcId(meta.progressToken) ? meta.progressToken : undefined;
  const listener: CallListener = { notification: send };
  if (progressToken !== undefined) {
    listener.progress = (params) =>
      send({ jsonrpc: '2.0', method: 'notifications/progress', params: { ...params, progressToken } });
  }
  if (ask) listener.ask = ask;
  return listener;
}

/** Answers with what `run` gives, in its `shape`; a cancelled request gets no answer, as the specification wants it. */
export async function respond(
  answer: Answer,
  message: RpcRequest,
  abort: Cancel,
  run: () => Promise<unknown>,
  shape: (result: unknown) => unknown,
  statusOf: (code: number) => number = () => 200,
): Promise<void> {
  try {
    answer.result(message.id, shape(await run()));
  } catch (thrown) {
    if (abort.signal.aborted && toAppError(thrown).code === 'CALL_CANCELLED') answer.empty();
    else {
      const error = rpcError(thrown);
      answer.error(message.id, error, statusOf(error.code));
    }
  }
}

/** A failure as JSON-RPC error; an upstream's own travels unchanged. */
export function rpcError(thrown: unknown): RpcError {
  if (thrown instanceof RpcFailure) return thrown.toError();
  const error = toAppError(thrown);
  return { code: RPC_CODES[error.code] ?? RPC.internalError, message: error.message, data: error.toBody() };
}

const RPC_CODES: Partial<Record<AppError['code'], number>> = {
  INVALID_REQUEST: RPC.invalidRequest,
  INVALID_ARGUMENTS: RPC.invalidParams,
  UNKNOWN_TOOL: RPC.invalidParams,
  UNKNOWN_SERVER: RPC.invalidParams,
  BODY_TOO_LARGE: RPC.invalidRequest,
};
