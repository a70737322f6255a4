import { AppError, ERROR_TABLE, type ErrorCode, toAppError } from '@mcpbridge/shared/errors.js';
import { isObject, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import type { CatalogTool } from '../catalog/view.js';
import { isRelay } from '../providers/provider.js';
import type { Session } from '../sessions/session.js';
import type { CallLog, CallRecord } from '../store/call-log.js';
import type { KeptCall, KeptCalls } from '../store/kept-calls.js';

/** How a call says that it is now sent, which is on disk before it is. */
export type Begin = (record: CallRecord, tool: CatalogTool) => Promise<void>;

/**
 * Calls that their callers gave an id: each is carried out once, and whoever sends it again gets what came of it, even
 * after this process was killed in the middle. What was begun and has no end is not repeated, unless the tool says that
 * repeating does no harm: nobody can know whether the server had it.
 */
export class OnceCalls {
  private readonly running = new Map<string, Promise<ToolResult>>();
  private readonly begunAt = Date.now();

  constructor(
    private readonly kept: KeptCalls,
    private readonly log: CallLog,
  ) {}

  run(
    session: Session,
    callId: string,
    findTool: () => CatalogTool | Promise<CatalogTool>,
    carry: (begin: Begin) => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const key = `${session.sessionId} ${callId}`;
    let call = this.running.get(key);
    if (!call) {
      call = this.first(session, callId, findTool, carry).finally(() => this.running.delete(key));
      this.running.set(key, call);
    }
    return call;
  }

  forget(sessionId: string): Promise<void> {
    return this.kept.forget(sessionId);
  }

  private async first(
    session: Session,
    callId: string,
    findTool: () => CatalogTool | Promise<CatalogTool>,
    carry: (begin: Begin) => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const known = await this.kept.find(session.sessionId, callId);
    if (known) {
      if (known.outcome !== undefined) return this.again(known.record, known.outcome);
      if (!isRepeatable(await findTool())) throw await this.unknown(callId, known);
    }
    let begun: CallRecord | undefined;
    const begin: Begin = async (record, tool) => {
      // Opening a connection takes long and does nothing yet: a death in it leaves no doubt.
      if (isRelay(tool.provider)) await tool.provider.opened(session);
      begun = record;
      await this.kept.put(callId, record);
    };
    try {
      const result = await carry(begin);
      if (begun) await this.kept.put(callId, begun, JSON.stringify({ result }));
      return result;
    } catch (thrown) {
      if (begun) await this.afterFailure(callId, begun, thrown);
      throw thrown;
    }
  }

  /** What provably did not start may be tried again; what was cut off half-way stays open. */
  private async afterFailure(callId: string, begun: CallRecord, thrown: unknown): Promise<void> {
    const failure = thrown instanceof RpcFailure ? thrown : toAppError(thrown);
    if (failure instanceof AppError && failure.retryable) await this.kept.forget(begun.sessionId, callId);
    else if (!(failure instanceof AppError) || failure.code !== 'CALL_CANCELLED')
      await this.kept.put(callId, begun, JSON.stringify(failureOf(failure)));
  }

  private again(record: CallRecord, outcome: string): ToolResult {
    const kept: unknown = JSON.parse(outcome);
    // The record may have been lost with an earlier process; written again it does no harm.
    if (record.startedAt < this.begunAt)
      this.log.add(isObject(kept) && isObject(kept.result) ? { ...record, result: kept.result } : record);
    if (!isObject(kept)) throw new AppError('INTERNAL', 'What was kept of this call cannot be read.');
    if (isObject(kept.result)) return kept.result;
    if (isObject(kept.rpc))
      throw new RpcFailure(Number(kept.rpc.code), String(kept.rpc.message), kept.rpc.data);
    const error = isObject(kept.error) ? kept.error : {};
    const code = String(error.code) in ERROR_TABLE ? (error.code as ErrorCode) : 'INTERNAL';
    throw new AppError(code, String(error.message), { details: error.details });
  }

  private async unknown(callId: string, { record }: KeptCall): Promise<AppError> {
    const failure = new AppError(
      'OUTCOME_UNKNOWN',
      `The orchestrator ended while "${record.tool}" was running: it may or may not have been carried out, so it is not repeated. Check before doing it again.`,
    );
    const ended: CallRecord = {
      ...record,
      outcome: 'failed',
      errorCode: failure.code,
      errorMessage: failure.message,
      durationMs: 0,
    };
    await this.kept.put(callId, ended, JSON.stringify(failureOf(failure)));
    this.log.add(ended);
    return failure;
  }
}

function failureOf(failure: AppError | RpcFailure): object {
  return failure instanceof RpcFailure ? { rpc: failure.toError() } : { error: failure.toBody() };
}

function isRepeatable({ definition: { annotations } }: CatalogTool): boolean {
  return isObject(annotations) && (annotations.readOnlyHint === true || annotations.idempotentHint === true);
}
