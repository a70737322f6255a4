import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { type JsonObject, RpcFailure, type RpcId } from '@mcpbridge/shared/json-rpc.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import type { Catalog } from '../catalog/catalog.js';
import type { CatalogTool } from '../catalog/view.js';
import type { CallLog, CallRecord } from '../store/call-log.js';
import type { KeptCalls } from '../store/kept-calls.js';
import type { CallTracer } from '../tracing/call-tracer.js';
import type { Approvals, Asked, Decision } from './approvals.js';
import { checkArguments } from './arguments.js';
import { boundedResult, type KeepLarge } from './bounded-result.js';
import type { CallRequest } from './call-request.js';
import { Limits } from './limits.js';
import { NotedListener } from './noted-listener.js';
import { type Begin, OnceCalls } from './once.js';
import {
  beginRecord,
  msSince,
  nameTool,
  noteAnswer,
  noteFailure,
  roundedMs,
  toldOf,
} from './record-steps.js';
import { type RunningCall, RunningCalls } from './running-calls.js';
import { type TurnRule, Turns, thingOf } from './turns.js';

interface PipelineOptions {
  catalog: Catalog;
  log: CallLog;
  kept: KeptCalls;
  approvals: Approvals;
  keepLarge: KeepLarge;
  /** Milliseconds; 0: none. A server's own `timeout` goes before it. */
  timeoutMs: number;
  timeoutOf(serverId: string): number | undefined;
  /** Undefined: its calls may all run at once. */
  turnRulesOf(serverId: string): readonly TurnRule[] | undefined;
  /** Absent: no traces. */
  tracer?: CallTracer | undefined;
  /** Absent: not every call is told in the log. */
  onEnded?: ((record: CallRecord, requestId: RpcId | undefined) => void) | undefined;
}

/** A call from arrival to record. REST, /mcp, agents and replays all enter here. */
export class CallPipeline {
  readonly running = new RunningCalls();
  private readonly limits = new Limits();
  private readonly once: OnceCalls;
  private readonly turns = new Turns();

  constructor(private readonly options: PipelineOptions) {
    this.once = new OnceCalls(options.kept, options.log);
  }

  /** Rejects with an AppError, or an RpcFailure of the upstream; a tool's own failure is a result. */
  run(request: CallRequest): Promise<ToolResult> {
    const { callId, session, target } = request;
    if (callId === undefined) return this.carry(request);
    const findTool = () => this.options.catalog.resolve(target, session.sessionId);
    return this.once.run(session, callId, findTool, (beforeSend) => this.carry(request, beforeSend));
  }

  private async carry(request: CallRequest, beforeSend?: Begin): Promise<ToolResult> {
    const { catalog, log, tracer } = this.options;
    const record = beginRecord(request);
    const spans = tracer?.begin(request.meta);
    const call = this.running.begin(request, record);
    const { session } = request;
    let deadline: NodeJS.Timeout | undefined;
    let isCounted = false;
    let endTurn: (() => void) | undefined;
    let exposed = record.tool;
    try {
      const found = catalog.resolve(request.target, session.sessionId);
      const tool = found instanceof Promise ? await found : found;
      nameTool(record, tool);
      let said: string[] | undefined;
      exposed = tool.name;
      let args = checkArguments(tool.definition, request.args);
      // A virtual tool may itself make a call, which then counts.
      if (tool.provider.kind !== 'virtual') {
        this.limits.enter(session);
        isCounted = true;
      }
      record.ruleMs = msSince(record.durationMs);
      if (session.effective.rules?.needsApproval(tool)) {
        const { arguments: changed, note } = await this.approval(call, args);
        said = [];
        if (changed) {
          record.arguments = args = checkArguments(tool.definition, changed);
          said.push(`A person changed the arguments to ${JSON.stringify(args)} before this was carried out.`);
        }
        if (note) said.push(`The person who approved this call says: ${note}`);
      }
      deadline = this.deadline(tool, request);
      const turn = this.turn(tool, args, request);
      const before = performance.now();
      if (turn) endTurn = await turn;
      // The last thing before it goes out: what is noted from here on may have been carried out.
      if (beforeSend) await beforeSend(record, tool);
      const asked = performance.now();
      const turnMs = asked - before;
      const answer = await tool.provider.call({
        id: record.id,
        caller: session,
        tool: tool.definition.name,
        args,
        signal: request.abort.signal,
        meta: spans ? spans.toProvider(record, request.meta) : request.meta,
        more: request.more,
        listener: request.listener && new NotedListener(request.listener, record, record.durationMs),
        onQueued: (ms) => {
          record.queueMs = (record.queueMs ?? 0) + ms;
        },
      });
      record.upstreamMs = roundedMs(performance.now() - asked - (record.queueMs ?? 0));
      if (turn) record.queueMs = (record.queueMs ?? 0) + turnMs;
      noteAnswer(record, answer);
      const result = said?.length ? withWords(answer, said) : answer;
      const { resultBytes, imageBytes } = session.effective.limits;
      if (resultBytes === undefined || tool.provider.kind === 'virtual') return result;
      const keep = (text: string) => this.options.keepLarge(session, tool.name, text);
      return await boundedResult(result, { resultBytes, imageBytes }, keep);
    } catch (thrown) {
      const failure = whatFailed(thrown, request.abort.signal);
      noteFailure(record, failure);
      throw failure;
    } finally {
      clearTimeout(deadline);
      endTurn?.();
      if (isCounted) this.limits.leave(session);
      this.running.end(call);
      record.durationMs = msSince(record.durationMs);
      spans?.end(record);
      session.recorder?.call(toldOf(record, exposed));
      this.options.onEnded?.(record, request.requestId);
      // What waits for a person has not ended; it comes again.
      if (record.errorCode !== 'APPROVAL_PENDING') log.add(record);
      else this.running.setWaiting(call, true);
    }
  }

  private async approval(call: RunningCall, args: JsonObject): Promise<Decision> {
    const { record, request } = call;
    const { id: callId, principal, sessionId, client, server, tool } = record;
    const since = performance.now();
    this.running.setWaiting(call, true);
    const asked: Asked = {
      ...{ kind: 'call', callId, principal, sessionId, server, tool, arguments: args },
      ...(client === undefined ? {} : { client }),
    };
    const { approvals } = this.options;
    try {
      return await (request.isAsync && request.callId !== undefined
        ? approvals.askParked({ ...asked, callId: request.callId })
        : approvals.ask(asked, request.abort.signal, request.listener));
    } finally {
      this.running.setWaiting(call, false);
      record.waitingMs = msSince(since);
    }
  }

  private turn(
    tool: CatalogTool,
    args: JsonObject,
    { abort, listener }: CallRequest,
  ): Promise<() => void> | undefined {
    const { id } = tool.provider;
    const rules = this.options.turnRulesOf(id);
    const thing = rules && thingOf(id, rules, tool.definition.name, args);
    return thing === undefined ? undefined : this.turns.take(thing, tool.name, abort.signal, listener);
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

/** What a person made of a call or says to it: whoever called must not take the result for that of what they asked. */
function withWords(result: ToolResult, said: readonly string[]): ToolResult {
  const blocks = said.map((text) => ({ type: 'text', text: `[${text}]` }));
  return { ...result, content: [...(result.content ?? []), ...blocks] };
}

/** The first cause wins: after an abort, its reason is the failure, whatever broke because of it, unless that explains it. */
function whatFailed(thrown: unknown, signal: CancelSignal): AppError | RpcFailure {
  if (signal.aborted && thrown instanceof AppError && thrown.cause === signal.reason) return thrown;
  if (signal.aborted && signal.reason instanceof AppError) return signal.reason;
  return thrown instanceof RpcFailure ? thrown : toAppError(thrown);
}
