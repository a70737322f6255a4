import type { CallOrigin } from '@mcpbridge/shared/call-row.js';
import type { Cancel, CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import { isObject, type JsonObject, RpcFailure, type RpcId } from '@mcpbridge/shared/json-rpc.js';
import { resultText, type ToolResult } from '@mcpbridge/shared/tools.js';
import { type Placed, Underway } from '@mcpbridge/shared/underway.js';
import type { Catalog, Target } from '../catalog/catalog.js';
import type { CatalogTool } from '../catalog/view.js';
import type { LiveCall } from '../events/live-call.js';
import type { CallListener } from '../providers/provider.js';
import type { RecordedCall, Session } from '../sessions/session.js';
import type { CallLog, CallRecord } from '../store/call-log.js';
import type { KeptCalls } from '../store/kept-calls.js';
import type { CallTracer } from '../tracing/call-tracer.js';
import type { Approvals, Asked, Decision } from './approvals.js';
import { checkArguments } from './arguments.js';
import { boundedResult, type KeepLarge } from './bounded-result.js';
import { Limits } from './limits.js';
import { NotedListener } from './noted-listener.js';
import { type Begin, OnceCalls } from './once.js';
import { type TurnRule, Turns, thingOf } from './turns.js';

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
  /** The record's id, made by whoever wants to know it before the call is over. */
  id?: string;
  /** Of the JSON-RPC request, as the client's own log has it. */
  requestId?: RpcId;
  /** The call within which this one is made. */
  parent?: string | undefined;
  via?: CallOrigin | undefined;
  /** The call that this one repeats. */
  replayOf?: string;
  /** The caller's own id of it: with one it is carried out once, however often it comes. */
  callId?: string;
  /** The caller does not wait for a person's yes: it asks again. Needs `callId`. */
  isAsync?: boolean;
}

/** A call between its arrival and its record. */
interface RunningCall extends LiveCall, Placed {
  request: CallRequest;
}

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

/** Of what a failed tool said, in the record; its whole answer is kept beside it. */
const MESSAGE_CHARACTERS = 2048;

/** A call from arrival to record. REST, /mcp, agents and replays all enter here. */
export class CallPipeline {
  /** Hears of calls that begin, or begin or cease to wait for a person; set while somebody watches. */
  watcher: ((call: LiveCall) => void) | undefined;
  private readonly calls = new Underway<RunningCall>();
  private whenIdle: (() => void) | undefined;
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
    const record = begin(request);
    const spans = tracer?.begin(request.meta);
    const call: RunningCall = { record, request, waiting: false, over: false, place: 0 };
    this.calls.add(call);
    this.watcher?.(call);
    const { session } = request;
    let deadline: NodeJS.Timeout | undefined;
    let isCounted = false;
    let endTurn: (() => void) | undefined;
    let exposed = record.tool;
    try {
      const found = catalog.resolve(request.target, session.sessionId);
      const tool = found instanceof Promise ? await found : found;
      name(record, tool);
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
      finish(record, answer);
      const result = said?.length ? withWords(answer, said) : answer;
      const { resultBytes, imageBytes } = session.effective.limits;
      if (resultBytes === undefined || tool.provider.kind === 'virtual') return result;
      const keep = (text: string) => this.options.keepLarge(session, tool.name, text);
      return await boundedResult(result, { resultBytes, imageBytes }, keep);
    } catch (thrown) {
      const failure = whatFailed(thrown, request.abort.signal);
      fail(record, failure);
      throw failure;
    } finally {
      clearTimeout(deadline);
      endTurn?.();
      if (isCounted) this.limits.leave(session);
      call.over = true;
      this.calls.delete(call);
      if (this.calls.size === 0) this.whenIdle?.();
      record.durationMs = msSince(record.durationMs);
      spans?.end(record);
      session.recorder?.call(recorded(record, exposed));
      this.options.onEnded?.(record, request.requestId);
      // What waits for a person has not ended; it comes again.
      if (record.errorCode !== 'APPROVAL_PENDING') log.add(record);
      else {
        call.waiting = true;
        this.watcher?.(call);
      }
    }
  }

  /** Resolves when no call runs any more, or after `ms`. */
  async drained(ms: number): Promise<void> {
    if (this.calls.size === 0) return;
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
    for (const { request } of this.calls) {
      if (request.session === session)
        request.abort.abort(new AppError('CALL_CANCELLED', 'The session was ended.'));
    }
  }

  /** The calls that run now, the first to come first. */
  running(): Iterable<LiveCall> {
    return [...this.calls].sort((a, b) => a.record.durationMs - b.record.durationMs);
  }

  get runningCount(): number {
    return this.calls.size;
  }

  /** False when it does not run. */
  cancel(id: string, by: string): boolean {
    const call = this.calls.find(({ record }) => record.id === id);
    call?.request.abort.abort(new AppError('CALL_CANCELLED', `The call was cancelled by ${by}.`));
    return call !== undefined;
  }

  private async approval(call: RunningCall, args: JsonObject): Promise<Decision> {
    const { record, request } = call;
    const { id: callId, principal, sessionId, client, server, tool } = record;
    const since = performance.now();
    call.waiting = true;
    this.watcher?.(call);
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
      call.waiting = false;
      this.watcher?.(call);
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

const msSince = (start: number): number => roundedMs(performance.now() - start);

/** To the microsecond: the digits behind it are noise, and cost more to write than all else of a number. */
function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** `durationMs` holds the start until the call has ended. */
function begin(request: CallRequest): CallRecord {
  const { session, target } = request;
  return {
    id: request.id ?? timeOrderedId(),
    startedAt: Date.now(),
    principal: session.owner,
    sessionId: session.sessionId,
    client: request.client,
    project: session.project,
    kind: 'mcp',
    server: 'server' in target ? target.server : '',
    tool: 'name' in target ? target.name : target.tool,
    arguments: request.args,
    outcome: 'failed',
    durationMs: performance.now(),
    resultBytes: 0,
    parent: request.parent,
    via: request.via,
    replayOf: request.replayOf,
  };
}

/** What a person made of a call or says to it: whoever called must not take the result for that of what they asked. */
function withWords(result: ToolResult, said: readonly string[]): ToolResult {
  const blocks = said.map((text) => ({ type: 'text', text: `[${text}]` }));
  return { ...result, content: [...(result.content ?? []), ...blocks] };
}

function recorded(record: CallRecord, exposed: string): RecordedCall {
  const {
    id,
    server,
    tool,
    arguments: args,
    durationMs: ms,
    result,
    errorCode: code,
    errorMessage: message,
  } = record;
  const outcome = result === undefined ? { error: { code, message } } : { result };
  return { id, name: exposed, server, tool, arguments: args ?? {}, ms, ...outcome };
}

function name(record: CallRecord, tool: CatalogTool): void {
  record.kind = tool.provider.kind;
  record.server = tool.provider.id;
  record.tool = tool.definition.name;
}

function finish(record: CallRecord, result: ToolResult): void {
  record.result = result;
  record.resultBytes = textBytes(result.content);
  if (result.isError !== true) {
    record.outcome = 'ok';
    return;
  }
  record.outcome = 'tool_error';
  record.errorCode = 'TOOL_FAILED';
  record.errorMessage = resultText(result).slice(0, MESSAGE_CHARACTERS);
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

/** The first cause wins: after an abort, its reason is the failure, whatever broke because of it, unless that explains it. */
function whatFailed(thrown: unknown, signal: CancelSignal): AppError | RpcFailure {
  if (signal.aborted && thrown instanceof AppError && thrown.cause === signal.reason) return thrown;
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
