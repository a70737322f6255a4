import type { ErrorBody } from '@mcpbridge/shared/errors.js';

/** What the orchestrator answered instead of what was asked for; `offline` when nothing answered. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details?: unknown,
  ) {
    super(message);
  }

  get isSignedOut(): boolean {
    return this.status === 401;
  }
}

interface RequestOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  body?: unknown;
  session?: string;
  signal?: AbortSignal;
}

/** One request to the orchestrator that serves this page; @throws RequestError. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return answerOf<T>(await fetched(path, options), options.method ?? 'GET', path);
}

/** A file as it is; @throws RequestError. */
export async function send<T>(path: string, file: Blob, type: string): Promise<T> {
  return answerOf<T>(await fetched(path, { method: 'POST', file, type }), 'POST', path);
}

async function answerOf<T>(response: Response, method: string, path: string): Promise<T> {
  const text = await response.text();
  const body = parsed(text);
  if (response.ok) return body as T;
  const error = (body as { error?: ErrorBody } | undefined)?.error;
  throw new RequestError(
    response.status,
    error?.code ?? `HTTP_${response.status}`,
    error?.message ?? `The orchestrator answered ${response.status} to ${method} ${path}.`,
    error?.details,
  );
}

interface FetchOptions extends RequestOptions {
  file?: Blob;
  type?: string;
}

async function fetched(
  path: string,
  { method = 'GET', body, session, signal, file, type }: FetchOptions,
): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (type !== undefined) headers['content-type'] = type;
  if (session !== undefined) headers['x-session-id'] = session;
  try {
    return await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(file ? { body: file } : {}),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError(0, 'OFFLINE', 'The orchestrator cannot be reached.');
  }
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined; // An answer that is no JSON is told by its status.
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
