import type { Cancel, CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import { isObject, type JsonObject, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import type { Catalog, Target } from '../catalog/catalog.js';
import type { CatalogTool } from '../catalog/view.js';
import type { CallListener } from '../providers/provider.js';
import type { Session } from '../sessions/session.js';
import type { CallLog, CallRecord } from '../store/call-log.js';
import type { Outputs } from '../store/outputs.js';
import type { Approvals } from './approvals.js';
import { checkArguments } from './arguments.js';
import { boundedResult } from './bounded-result.js';
import { Limits } from './limits.js';

export interface CallRequest {
  session: Session;
  target: Target;
  /** As they came; checked here. */
  args: unknown;
  meta?: JsonObject;
  /** What the client sent beside these, for the provider. */
  more?: JsonObject;
  /** Aborted by whoever carries the call when its caller goes away or cancels, and by the deadline here. */
  abort: Cancel;
  listener?: CallListener;
  /** Name and version of the client, for the record. */
  client?: string;
}

interface PipelineOptions {
  catalog: Catalog;
  log: CallLog;
  approvals: Approvals;
  outputs: Outputs;
  /** Milliseconds; 0: none. A server's own `timeout` goes before it. */
  timeoutMs: number;
  timeoutOf(serverId: string): number | undefined;
}

/** A call from arrival to record. REST, /mcp, agents and replays all enter here. */
export class CallPipeline {
  private readonly running = new Map<string, CallRequest>();
  private whenIdle: (() => void) | undefined;
  private readonly limits = new Limits();

  constructor(private readonly options: PipelineOptions) {}

  /** Rejects with an AppError, or an RpcFailure of the upstream; a tool's own failure is a result. */
  async run(request: CallRequest): Promise<ToolResult> {
    const { catalog, log } = this.options;
    const record = begin(request);
    this.running.set(record.id, request);
    const { session } = request;
    let deadline: NodeJS.Timeout | undefined;
    let isCounted = false;
    try {
      const found = catalog.resolve(request.target, session.sessionId);
      const tool = found instanceof Promise ? await found : found;
      name(record, tool);
      const args = checkArguments(tool.definition, request.args);
      // A virtual tool may itself make a call, which then counts.
      if (tool.provider.kind !== 'virtual') {
        this.limits.enter(session);
        isCounted = true;
      }
      if (session.effective.rules?.needsApproval(tool)) await this.approval(record, args, request);
      deadline = this.deadline(tool, request);
      const result = await tool.provider.call({
        caller: session,
        tool: tool.definition.name,
        args,
        signal: request.abort.signal,
        meta: request.meta,
        more: request.more,
        listener: request.listener,
      });
      finish(record, result);
      const { resultBytes } = session.effective.limits;
      if (resultBytes === undefined || tool.provider.kind === 'virtual') return result;
      const save = (text: string) => this.options.outputs.save(session.sessionId, text);
      return await boundedResult(result, resultBytes, save);
    } catch (thrown) {
      const failure = whatFailed(thrown, request.abort.signal);
      fail(record, failure);
      throw failure;
    } finally {
      clearTimeout(deadline);
      if (isCounted) this.limits.leave(session);
      this.running.delete(record.id);
      if (this.running.size === 0) this.whenIdle?.();
      record.durationMs = performance.now() - record.durationMs;
      log.add(record);
    }
  }

  /** Resolves when no call runs any more, or after `ms`. */
  async drained(ms: number): Promise<void> {
    if (this.running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.whenIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Cancels what a session still runs. */
  cancelSession(session: Session): void {
    for (const request of this.running.values()) {
      if (request.session === session)
        request.abort.abort(new AppError('CALL_CANCELLED', 'The session was ended.'));
    }
  }

  private approval(record: CallRecord, args: JsonObject, request: CallRequest): Promise<string> {
    const { id: callId, principal, sessionId, client, server, tool } = record;
    const call = {
      kind: 'call' as const,
      callId,
      principal,
      sessionId,
      client,
      server,
      tool,
      arguments: args,
    };
    return this.options.approvals.ask(call, request.abort.signal, request.listener);
  }

  private deadline(tool: CatalogTool, { abort, session }: CallRequest): NodeJS.Timeout | undefined {
    const allowed = session.effective.limits.timeoutMs;
    const usual = this.options.timeoutOf(tool.provider.id) ?? this.options.timeoutMs;
    const ms = allowed === undefined ? usual : Math.min(allowed, usual || allowed);
    if (ms === 0) return undefined;
    const late = () =>
      abort.abort(
        new AppError('CALL_TIMEOUT', `"${tool.name}" gave no answer within ${ms} ms and was cancelled.`),
      );
    return setTimeout(late, ms);
  }
}

/** `durationMs` holds the start until the call has ended. */
function begin(request: CallRequest): CallRecord {
  const { session, target } = request;
  return {
    id: timeOrderedId(),
    startedAt: Date.now(),
    principal: session.owner,
    sessionId: session.sessionId,
    client: request.client,
    kind: 'mcp',
    server: 'server' in target ? target.server : '',
    tool: 'name' in target ? target.name : target.tool,
    arguments: request.args,
    outcome: 'failed',
    durationMs: performance.now(),
    resultBytes: 0,
  };
}

function name(record: CallRecord, tool: CatalogTool): void {
  record.kind = tool.provider.kind;
  record.server = tool.provider.id;
  record.tool = tool.definition.name;
}

function finish(record: CallRecord, result: ToolResult): void {
  record.outcome = result.isError === true ? 'tool_error' : 'ok';
  record.resultBytes = textBytes(result.content);
}

/** The weight of a result without writing it out once more: its texts and data. */
function textBytes(content: unknown): number {
  if (!Array.isArray(content)) return 0;
  let bytes = 0;
  for (const block of content) {
    if (!isObject(block)) continue;
    for (const value of [block.text, block.data]) if (typeof value === 'string') bytes += value.length;
  }
  return bytes;
}

/** The first cause wins: after an abort, its reason is the failure, whatever broke because of it. */
function whatFailed(thrown: unknown, signal: CancelSignal): AppError | RpcFailure {
  if (signal.aborted && signal.reason instanceof AppError) return signal.reason;
  return thrown instanceof RpcFailure ? thrown : toAppError(thrown);
}

const REFUSED = new Set([
  'UNKNOWN_TOOL',
  'UNKNOWN_SERVER',
  'INVALID_ARGUMENTS',
  'TOOL_NOT_ALLOWED',
  'NOT_APPROVED',
  'LIMIT_REACHED',
]);

function fail(record: CallRecord, failure: AppError | RpcFailure): void {
  const code = failure instanceof AppError ? failure.code : 'PROVIDER_ERROR';
  record.errorCode = code;
  record.errorMessage = failure.message;
  if (code === 'CALL_CANCELLED') record.outcome = 'cancelled';
  else record.outcome = REFUSED.has(code) ? 'refused' : 'failed';
}
