import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, type ErrorBody, messageOf } from '@mcpbridge/shared/errors.js';
import { encodeGuard, GUARD_HEADER, type Guard } from '@mcpbridge/shared/folder-guard.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import type { Dispatcher, Pool } from 'undici';
import { Pulse } from './workspace-pulse.js';

/** After so long without an answer, and again and again, the workspace is asked whether it lives. */
const SILENT_MS = 10_000;

/** Where the workspace is: embedded on a socket, or anywhere. */
export interface WorkspaceAddress {
  url: string;
  socketPath?: string;
  token: string;
}

export interface WorkspaceRequest {
  method: Dispatcher.HttpMethod;
  /** With its query, encoded. */
  path: string;
  /** Sent as JSON, bytes as they are. */
  body?: JsonObject | Uint8Array;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface WorkspaceAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Readable;
}

/** Sees what is handed on, both ways, as it goes by. */
export interface Witness {
  sent(part: Buffer): void;
  answered(part: Buffer): void;
}

async function* told(
  parts: AsyncIterable<Buffer>,
  tell: ((part: Buffer) => void) | undefined,
): AsyncGenerator<Buffer> {
  for await (const part of parts) {
    tell?.(part);
    yield part;
  }
}

/** Between two hops alone, or replaced here. */
const NOT_FORWARDED = new Set([
  'authorization',
  'connection',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  GUARD_HEADER,
  HEADER.session,
]);

/** The workspace as the orchestrator sees it, wherever it runs: one HTTP service that trusts a secret and a guard. */
export class WorkspaceClient {
  private pool: Promise<Pool> | undefined;
  private readonly base: string;
  private readonly pulse: Pulse;

  constructor(private readonly address: WorkspaceAddress) {
    this.base = new URL(address.url).pathname.replace(/\/+$/, '');
    this.pulse = new Pulse(() => openPool(address), `${this.base}/health`);
  }

  /** Any answer, as a stream. @throws WORKSPACE_UNAVAILABLE */
  async request(guard: Guard, asked: WorkspaceRequest): Promise<WorkspaceAnswer> {
    const { method, path, body, headers = {}, signal } = asked;
    const isJson = body !== undefined && !(body instanceof Uint8Array);
    return this.send(guard, {
      method,
      path,
      headers: { ...headers, ...(isJson ? { 'content-type': 'application/json' } : {}) },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
      ...(signal ? { signal } : {}),
    });
  }

  /** An answer that is JSON. A failure that the workspace reports is thrown as what it is. */
  async json(guard: Guard, asked: WorkspaceRequest): Promise<JsonObject> {
    return readJson(await this.request(guard, asked));
  }

  /** An answer that is read as it comes. A failure that the workspace reports is thrown as what it is. */
  async stream(guard: Guard, asked: WorkspaceRequest): Promise<Readable> {
    const answer = await this.request(guard, asked);
    if (answer.status >= 400) await readJson(answer);
    return answer.body;
  }

  /** An answer as it is, whole. A failure that the workspace reports is thrown as what it is. */
  async bytes(guard: Guard, asked: WorkspaceRequest): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of await this.stream(guard, asked)) parts.push(part as Buffer);
    return Buffer.concat(parts);
  }

  /** Hands a request on and its answer back, both as they come. The end of the caller's connection ends the request. */
  async forward(
    guard: Guard,
    request: IncomingMessage,
    response: ServerResponse,
    witness?: Witness,
  ): Promise<void> {
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    const { method = 'GET', headers: given } = request;
    const hasBody = given['content-length'] !== undefined || given['transfer-encoding'] !== undefined;
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(given))
      if (value !== undefined && !NOT_FORWARDED.has(name)) headers[name] = value;
    const answer = await this.send(guard, {
      method: method as Dispatcher.HttpMethod,
      path: request.url ?? '/',
      headers,
      signal: gone.signal,
      // An answer that comes before the body has ended must not end the caller's connection.
      ...(hasBody
        ? { body: Readable.from(told(request.iterator({ destroyOnReturn: false }), witness?.sent)) }
        : {}),
    });
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined && !NOT_FORWARDED.has(name)) response.setHeader(name, value);
    response.writeHead(answer.status);
    response.flushHeaders();
    await pipeline(witness ? told(answer.body, witness.answered) : answer.body, response);
  }

  async close(): Promise<void> {
    await Promise.all([(await this.pool)?.destroy(), this.pulse.close()]);
  }

  private async send(
    guard: Guard,
    options: Omit<Dispatcher.RequestOptions, 'headers' | 'signal'> & {
      headers: Record<string, string | string[]>;
      signal?: AbortSignal;
    },
  ): Promise<WorkspaceAnswer> {
    const { token } = this.address;
    const headers = {
      ...options.headers,
      authorization: `Bearer ${token}`,
      [GUARD_HEADER]: encodeGuard(guard),
    };
    this.pool ??= openPool(this.address);
    try {
      const path = this.base + options.path;
      const answer = await this.answerOf(await this.pool, { ...options, path, headers });
      if (answer.statusCode === 401) {
        void answer.body.dump();
        throw new AppError(
          'WORKSPACE_UNAVAILABLE',
          'The workspace refuses our token: WORKSPACE_TOKEN must be its own.',
        );
      }
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new AppError('WORKSPACE_UNAVAILABLE', `The workspace does not answer: ${messageOf(cause)}.`, {
        cause,
      });
    }
  }

  /** It may take as long as it takes, to its last byte, while the workspace lives. */
  private async answerOf(
    pool: Pool,
    options: Dispatcher.RequestOptions & { signal?: AbortSignal },
  ): Promise<Dispatcher.ResponseData> {
    const frozen = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, frozen.signal]) : frozen.signal;
    const watch = setInterval(async () => {
      if (!(await this.pulse.beats()))
        frozen.abort(new AppError('WORKSPACE_UNAVAILABLE', 'The workspace has stopped answering.'));
    }, SILENT_MS).unref();
    try {
      const answer = await pool.request({ ...options, signal });
      answer.body.once('close', () => clearInterval(watch));
      return answer;
    } catch (error) {
      clearInterval(watch);
      throw error;
    }
  }
}

async function readJson({ status, body }: WorkspaceAnswer): Promise<JsonObject> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part as Buffer);
  const answer: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
  if (!isObject(answer))
    throw new AppError('WORKSPACE_UNAVAILABLE', 'The workspace answered no JSON object.');
  if (status < 400) return answer;
  const { code, message, details } = answer.error as ErrorBody;
  throw new AppError(code, message, details === undefined ? {} : { details });
}

/** Loaded when it is first used, to start sooner. */
async function openPool({ url, socketPath }: WorkspaceAddress): Promise<Pool> {
  const { workspacePool } = await import('./workspace-pool.js');
  return workspacePool(new URL(url).origin, socketPath);
}
