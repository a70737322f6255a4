import { ERROR_TABLE, type ErrorCode, failureText, type Layer } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject, RPC } from '@mcpbridge/shared/json-rpc.js';
import { type ToolResult, textResult } from '@mcpbridge/shared/tools.js';

/** What went wrong, where; a foreign executor may have codes and layers of its own. */
export interface Failure {
  code: string;
  message: string;
  layer: string;
  retryable: boolean;
}

/** A failure on its way to the client's answer. */
export class BridgeFailure extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
    this.name = 'BridgeFailure';
  }
}

export function bridgeFailure(code: ErrorCode, message: string, layer: Layer = 'bridge'): BridgeFailure {
  return new BridgeFailure({ code, message, layer, retryable: ERROR_TABLE[code].retryable });
}

const MAX_TEXT = 16 * 1024;

/** The answer that a failed call gets: as a result, because clients keep the text of those from no model. */
export function failureResult(failure: Failure): ToolResult {
  const { message } = failure;
  const bounded = message.length > MAX_TEXT ? `${message.slice(0, MAX_TEXT)} … [cut]` : message;
  return textResult(failureText({ ...failure, message: bounded }), true);
}

/** The answer to a failed request: of a call a result that is an error, of anything else a JSON-RPC error. */
export function failureAnswer(method: string, failure: Failure, modern: boolean): JsonObject {
  if (method === 'tools/call') {
    const result = failureResult(failure);
    return { result: modern ? { resultType: 'complete', ...result } : result };
  }
  const { message, ...data } = failure;
  return { error: { code: RPC.internalError, message, data } };
}

/** Reads the failure out of an HTTP answer of 400 and above, whoever gave it. */
export function readRefusal(status: number, body: Buffer): Failure {
  const text = body.toString('utf8').trim();
  const value = parse(text);
  const given = isObject(value) ? value.error : undefined;
  if (isObject(given)) return readErrorBody(given, status);
  const code = codeOf(status);
  const message = typeof given === 'string' && given !== '' ? given : `HTTP ${status}${text && `: ${text}`}`;
  return { code, message, layer: ERROR_TABLE[code].layer, retryable: ERROR_TABLE[code].retryable };
}

/** `{code, message, layer, retryable}`, by itself or as the `data` of a JSON-RPC error. */
export function readErrorBody(body: JsonObject, status = 500): Failure {
  const inner = isObject(body.data) && typeof body.data.code === 'string' ? body.data : body;
  const fallback = codeOf(status);
  const message = [body.message, inner.message].find((text) => typeof text === 'string' && text !== '');
  return {
    code: typeof inner.code === 'string' ? inner.code : fallback,
    message: typeof message === 'string' ? message : `HTTP ${status}: ${JSON.stringify(body)}`,
    layer: typeof inner.layer === 'string' ? inner.layer : ERROR_TABLE[fallback].layer,
    retryable: inner.retryable === true,
  };
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return 'UNAUTHORIZED';
  if (status === 404) return 'NOT_FOUND';
  if (status === 413) return 'BODY_TOO_LARGE';
  if (status === 503) return 'PROVIDER_UNAVAILABLE';
  if (status === 504) return 'CALL_TIMEOUT';
  return status < 500 ? 'INVALID_REQUEST' : 'INTERNAL';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the text itself is then the message.
    return undefined;
  }
}
