import { createHmac } from 'node:crypto';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { type ToolResult, textResult } from '@mcpbridge/shared/tools.js';
import { traceInMeta } from '@mcpbridge/shared/trace-context.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import type { Outgoing } from '../../outgoing/outgoing.js';
import type { SessionToolRow } from '../../store/session-tool-store.js';
import type { ProviderCall } from '../provider.js';

/** `POST url` with the arguments as body, signed; whatever it answers becomes a result. Redirects are not followed. */
export async function callBack(
  { definition: { name }, url, secret }: SessionToolRow,
  { args, caller, signal, meta }: ProviderCall,
  maxBytes: number,
  outgoing: Outgoing,
): Promise<ToolResult> {
  const body = JSON.stringify(args);
  const abort = new AbortController();
  const onAbort = () => abort.abort(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    const response = await outgoing.fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [HEADER.session]: caller.sessionId,
        ...traceInMeta(meta),
        ...signatureOf(secret, body),
      },
      body,
      redirect: 'manual',
      signal: abort.signal,
    });
    const text = await readBounded(response, name, maxBytes);
    if (response.status >= 300 && response.status < 400) throw redirected(name, response);
    return toResult(text, response.status >= 400);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const why = error instanceof TypeError && error.cause ? messageOf(error.cause) : messageOf(error);
    throw new AppError('PROVIDER_UNAVAILABLE', `The tool "${name}" at ${url} cannot be reached: ${why}`, {
      cause: error,
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** HMAC-SHA256 of time and body, so that the receiver knows who calls, and that it is not an old call sent again. */
function signatureOf(secret: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { 'x-mcpbridge-timestamp': timestamp, 'x-mcpbridge-signature': `sha256=${signature}` };
}

async function readBounded(response: Response, name: string, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > maxBytes) {
      throw new AppError(
        'RESULT_TOO_LARGE',
        `The tool "${name}" answered more than ${maxBytes} bytes, which are the most that is taken.`,
      );
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function redirected(name: string, response: Response): AppError {
  const to = response.headers.get('location') ?? 'nowhere';
  return new AppError(
    'PROVIDER_ERROR',
    `The tool "${name}" answered a redirect to ${to}, which is not followed.`,
  );
}

/** An MCP result whole, an executor's `{success, result, error}`, other JSON as text and structure, all else as text. */
function toResult(text: string, failed: boolean): ToolResult {
  const value = parsed(text);
  if (!isObject(value)) return textResult(text, failed);
  if (Array.isArray(value.content)) return failed ? { ...value, isError: true } : value;
  if (typeof value.success === 'boolean' && ('result' in value || 'error' in value)) {
    const said = value.success ? value.result : (value.error ?? value.result);
    return textResult(typeof said === 'string' ? said : JSON.stringify(said), !value.success || failed);
  }
  return { ...textResult(text, failed), structuredContent: value };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Text that is not JSON is an answer, too.
    return undefined;
  }
}
