import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type RpcError } from '@mcpbridge/shared/json-rpc.js';

const MAX_TEXT = 500;
/** The connection was never made, so nothing of the request can have arrived. */
const UNSENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*)$/;

export interface HttpFailure {
  error: AppError;
  /** The session or the server is gone: the next request needs a new connection. */
  spent: boolean;
}

/** What a failed request over HTTP means, and whether it provably never started. */
export function explainHttp(server: string, url: URL, thrown: unknown, inSession: boolean): HttpFailure {
  if (thrown instanceof AppError) return { error: thrown, spent: false };
  const status = statusOf(thrown);
  if (status === undefined) return explainNetwork(server, url, thrown);
  const text = bodyOf(thrown);
  if (inSession && isSessionLost(status, text)) {
    // The server looks its session up before anything else.
    const sentence = `Server "${server}" no longer knows its session (${status}).`;
    return { error: new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: thrown }), spent: true };
  }
  return { error: explainStatus(server, url, status, text, thrown), spent: false };
}

/** The JSON-RPC error in the body of a refusal; modern servers say there why. */
export function rpcErrorIn(thrown: unknown): RpcError | undefined {
  const text = bodyOf(thrown);
  if (!text.startsWith('{')) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    const error = isObject(body) ? body.error : undefined;
    if (!isObject(error) || typeof error.code !== 'number') return undefined;
    return { ...error, code: error.code, message: String(error.message ?? '') };
  } catch {
    // Not JSON after all; the status alone has to say it.
    return undefined;
  }
}

function isSessionLost(status: number, text: string): boolean {
  // The specification says 404; servers made after the SDK's first examples say 400.
  return (status === 404 && !text.includes('-32601')) || (status === 400 && /session/i.test(text));
}

function explainStatus(server: string, url: URL, status: number, text: string, cause: unknown): AppError {
  const said = text === '' ? '' : `: ${text.slice(0, MAX_TEXT)}`;
  const details = { status };
  if (status === 401 || status === 403) {
    const isNew = messageOf(cause).includes('after re-authentication');
    const sentence = isNew
      ? `Server "${server}" answered 401 to a token that its login service had just issued: the token may be meant for another address, or the clocks of both differ.`
      : `Server "${server}" answered ${status}: its key is missing or not valid; see its "headers".`;
    return new AppError('PROVIDER_UNAVAILABLE', sentence, { cause, details, retryable: false });
  }
  if (status === 429 || status === 503) {
    return new AppError('PROVIDER_UNAVAILABLE', `Server "${server}" answered ${status}${said}`, {
      cause,
      details,
    });
  }
  if (status === 404 || status === 405) {
    const sentence = `Server "${server}" answered ${status}: ${placeOf(url)} is not an MCP endpoint of this kind.`;
    return new AppError('PROVIDER_ERROR', sentence, { cause, details });
  }
  const code = status === 502 || status === 504 ? 'CONNECTION_LOST' : 'PROVIDER_ERROR';
  return new AppError(code, `Server "${server}" answered ${status}${said}`, { cause, details });
}

function explainNetwork(server: string, url: URL, thrown: unknown): HttpFailure {
  const code = codeIn(thrown);
  if (code !== undefined && UNSENT.test(code)) {
    const sentence = `Server "${server}" cannot be reached at ${placeOf(url)} (${code}).`;
    return { error: new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: thrown }), spent: true };
  }
  const why = code ?? messageOf(thrown);
  const sentence = `Server "${server}" broke the connection off before it answered (${why}).`;
  return { error: new AppError('CONNECTION_LOST', sentence, { cause: thrown }), spent: false };
}

/** Without user, password and query, where keys may stand. */
function placeOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

function codeIn(thrown: unknown): string | undefined {
  for (let at: unknown = thrown; isObject(at); at = at.cause) {
    if (typeof at.code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(at.code)) return at.code;
  }
  // The SSE transport hands on the text alone.
  return /\bE[A-Z]{4,}\b/.exec(messageOf(thrown))?.[0];
}

/** The SDK's errors carry it in `data`; those of the SSE transport as a code, or in their text. */
function statusOf(thrown: unknown): number | undefined {
  if (!isObject(thrown)) return undefined;
  const status = isObject(thrown.data) ? thrown.data.status : undefined;
  const found = [status, thrown.code, Number(/\(HTTP (\d{3})\)/.exec(messageOf(thrown))?.[1])];
  return found.find((value): value is number => typeof value === 'number' && value >= 100 && value < 600);
}

function bodyOf(thrown: unknown): string {
  const data = isObject(thrown) && isObject(thrown.data) ? thrown.data : {};
  return (typeof data.text === 'string' ? data.text : messageOf(thrown)).trim();
}
