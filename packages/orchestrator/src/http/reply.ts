import { AppError, type ErrorBody, toAppError } from '@mcpbridge/shared/errors.js';
import { RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import { resultText, type ToolResult } from '@mcpbridge/shared/tools.js';
import type { CallReply } from '@mcpbridge/shared/wire.js';
import type { HotResponse } from './exchange.js';

export function sendJson(
  response: HotResponse,
  status: number,
  value: unknown,
  headers?: Record<string, string>,
): void {
  const json = JSON.stringify(value);
  const own = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) };
  response.writeHead(status, headers ? { ...own, ...headers } : own);
  // As text and not as bytes: head and body then leave in one piece.
  response.end(json);
}

/** The one place where a failure becomes an HTTP answer. */
export function sendError(response: HotResponse, thrown: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const error = asAppError(thrown);
  const headers = error.code === 'UNAUTHORIZED' ? { 'www-authenticate': 'Bearer' } : undefined;
  sendJson(response, error.status, { success: false, error: error.toBody() }, headers);
}

/** An upstream's JSON-RPC error keeps its code and data in the details. */
export function asAppError(thrown: unknown): AppError {
  if (!(thrown instanceof RpcFailure)) return toAppError(thrown);
  return new AppError('PROVIDER_ERROR', thrown.message, { cause: thrown, details: thrown.toError() });
}

/** The tool's answer whole, with `success` and its text for scripts. */
export function callReply(result: ToolResult): CallReply {
  const text = resultText(result);
  if (result.isError !== true) return { success: true, result: text, ...result };
  const error: ErrorBody = { code: 'TOOL_FAILED', message: text, layer: 'tool', retryable: false };
  return { success: false, result: text, error, ...result };
}
