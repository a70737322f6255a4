import type { ServerResponse } from 'node:http';
import { AppError, type ErrorBody, toAppError } from '@mcpbridge/shared/errors.js';
import { RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import { resultText, type ToolResult } from '@mcpbridge/shared/tools.js';
import type { CallReply } from '@mcpbridge/shared/wire.js';

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  sendText(response, status, JSON.stringify(value), headers);
}

/** Sends text that is JSON already. */
export function sendText(
  response: ServerResponse,
  status: number,
  json: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(json),
    ...headers,
  });
  // As text and not as bytes: Node then sends head and body in one piece.
  response.end(json);
}

/** The one place where a failure becomes an HTTP answer. */
export function sendError(response: ServerResponse, thrown: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const error = asAppError(thrown);
  const headers: Record<string, string> =
    error.code === 'UNAUTHORIZED' ? { 'www-authenticate': 'Bearer' } : {};
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
