import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import type { HotResponse } from './exchange.js';

export function sendJson(
  response: HotResponse,
  status: number,
  value: unknown,
  headers?: Record<string, string>,
): void {
  sendText(response, status, JSON.stringify(value), headers);
}

/** Sends text that is JSON already. */
export function sendText(
  response: HotResponse,
  status: number,
  json: string,
  headers?: Record<string, string>,
): void {
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
  const headers =
    error.headers ?? (error.code === 'UNAUTHORIZED' ? { 'www-authenticate': 'Bearer' } : undefined);
  sendJson(response, error.status, { success: false, error: error.toBody() }, headers);
}

/** An upstream's JSON-RPC error keeps its code and data in the details. */
export function asAppError(thrown: unknown): AppError {
  if (!(thrown instanceof RpcFailure)) return toAppError(thrown);
  return new AppError('PROVIDER_ERROR', thrown.message, { cause: thrown, details: thrown.toError() });
}
