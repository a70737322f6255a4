import { AppError } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import { isObject, type RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import { resultText, type ToolResult } from '@mcpbridge/shared/tools.js';
import type { CatalogTool } from '../catalog/view.js';
import type { RecordedCall } from '../sessions/session.js';
import type { CallRecord } from '../store/call-log.js';
import type { CallRequest } from './call-request.js';

// What a call leaves behind, step by step, as the pipeline takes them.

/** Of what a failed tool said, in the record; its whole answer is kept beside it. */
const MESSAGE_CHARACTERS = 2048;

const REFUSED = new Set([
  'UNKNOWN_TOOL',
  'UNKNOWN_SERVER',
  'INVALID_ARGUMENTS',
  'TOOL_NOT_ALLOWED',
  'NOT_APPROVED',
  'LIMIT_REACHED',
]);

/** `durationMs` holds the start until the call has ended. */
export function beginRecord(request: CallRequest): CallRecord {
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

export function nameTool(record: CallRecord, tool: CatalogTool): void {
  record.kind = tool.provider.kind;
  record.server = tool.provider.id;
  record.tool = tool.definition.name;
}

export function noteAnswer(record: CallRecord, result: ToolResult): void {
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

export function noteFailure(record: CallRecord, failure: AppError | RpcFailure): void {
  const code = failure instanceof AppError ? failure.code : 'PROVIDER_ERROR';
  record.errorCode = code;
  record.errorMessage = failure.message;
  if (code === 'CALL_CANCELLED') record.outcome = 'cancelled';
  else record.outcome = REFUSED.has(code) ? 'refused' : 'failed';
}

/** As a recording of the session has it; `exposed` is its name in the lists of clients. */
export function toldOf(record: CallRecord, exposed: string): RecordedCall {
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

export const msSince = (start: number): number => roundedMs(performance.now() - start);

/** To the microsecond: the digits behind it are noise, and cost more to write than all else of a number. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
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
