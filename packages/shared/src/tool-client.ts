import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { AppError, ERROR_TABLE, type ErrorCode, messageOf } from './errors.js';
import { isObject, type JsonObject } from './json-rpc.js';
import { baseUrl } from './locate.js';
import type { ToolDefinition, ToolResult } from './tools.js';
import { HEADER, RESPOND_ASYNC, WHOLE_RESULT } from './wire.js';

/** A tool as `GET /api/tools` lists it. */
export interface ListedTool extends ToolDefinition {
  type: 'mcp' | 'custom' | 'virtual';
  server: string;
}

interface CallOptions {
  signal?: AbortSignal;
  /** The call is carried out once, however often it is sent. */
  callId?: string;
  /** Rejects with APPROVAL_PENDING instead of waiting for a person. */
  isAsync?: boolean;
}

interface RequestOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

export interface ServerEvent {
  id?: string;
  event: string;
  data: unknown;
}

/**
 * A client of the orchestrator's HTTP API, for our own programs: a few methods, no time limit of its own. Over a Unix socket
 * where one is given; the address then only says the host.
 */
export class ToolClient {
  private readonly base: URL;
  private readonly agent = new Agent({ keepAlive: true });

  constructor(
    address: string,
    private readonly token: string,
    private readonly options: { sessionId?: string; socket?: string } = {},
  ) {
    this.base = baseUrl(address);
  }

  /** All that the session may use. */
  async tools(signal?: AbortSignal): Promise<ListedTool[]> {
    const answer = await this.request('GET', '/api/tools', undefined, { signal });
    return isObject(answer) && Array.isArray(answer.tools) ? answer.tools : [];
  }

  /** Rejects with the orchestrator's own error; a tool's own failure is a result. */
  async call(tool: ListedTool, args: JsonObject, options: CallOptions = {}): Promise<ToolResult> {
    const { signal, callId, isAsync } = options;
    const headers: Record<string, string> = { accept: `${WHOLE_RESULT}, application/json` };
    if (callId !== undefined) headers[HEADER.callId] = callId;
    if (isAsync) headers.prefer = RESPOND_ASYNC;
    const answer = await this.request('POST', pathOf(tool), args, { headers, signal });
    if (!isObject(answer)) throw new AppError('INTERNAL', `"${tool.name}" was answered with no object.`);
    return answer;
  }

  /** The body of the answer; rejects with the error that it tells. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<unknown> {
    const response = await this.send(method, path, body, options);
    const text = await readAll(response);
    const answer = parse(text);
    const status = response.statusCode ?? 0;
    if (isObject(answer) && isObject(answer.error) && (status >= 300 || status === 202))
      throw readError(answer.error);
    if (status >= 300) throw new AppError('INTERNAL', `${method} ${path} was answered with ${status}.`);
    return answer;
  }

  /** Server-sent events, until the other side ends them. */
  async *events(path: string, options: RequestOptions = {}): AsyncGenerator<ServerEvent> {
    const headers = { accept: 'text/event-stream', ...options.headers };
    const response = await this.send('GET', path, undefined, { ...options, headers });
    if ((response.statusCode ?? 0) >= 300) {
      const answer = parse(await readAll(response));
      throw readError(isObject(answer) && isObject(answer.error) ? answer.error : {});
    }
    let rest = '';
    for await (const chunk of response.setEncoding('utf8')) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = readEvent(block);
        if (event) yield event;
      }
    }
  }

  close(): void {
    this.agent.destroy();
  }

  private send(
    method: string,
    path: string,
    body: unknown,
    options: RequestOptions,
  ): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.token}`,
      'user-agent': 'agent',
      ...options.headers,
    };
    const { sessionId, socket } = this.options;
    if (sessionId !== undefined) headers[HEADER.session] = sessionId;
    if (text !== undefined) {
      headers['content-type'] = 'application/json';
      headers['content-length'] = String(Buffer.byteLength(text));
    }
    return new Promise((resolve, reject) => {
      const { signal } = options;
      const target = new URL(this.base.pathname.replace(/\/$/, '') + path, this.base);
      const way = { agent: this.agent, ...(socket ? { socketPath: socket } : {}) };
      const sent = httpRequest(target, { method, headers, ...way, ...(signal ? { signal } : {}) });
      sent.on('response', resolve);
      sent.on('error', (error) => reject(signal?.aborted ? signal.reason : unreachable(this.base, error)));
      sent.end(text);
    });
  }
}

function pathOf({ name, type, server }: ListedTool): string {
  const tool = encodeURIComponent(name);
  return type === 'mcp' ? `/tools/mcp/${encodeURIComponent(server)}/${tool}` : `/tools/${type}/${tool}`;
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // said by the status
  }
}

function readError(error: JsonObject): AppError {
  const code = String(error.code) in ERROR_TABLE ? (error.code as ErrorCode) : 'INTERNAL';
  const message = typeof error.message === 'string' ? error.message : 'The orchestrator refused.';
  return new AppError(code, message, { details: error.details, retryable: error.retryable === true });
}

function readEvent(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
    if (name) fields.set(name, value);
  }
  const data = fields.get('data');
  if (data === undefined) return undefined;
  const id = fields.get('id');
  return { event: fields.get('event') ?? 'message', data: parse(data), ...(id === undefined ? {} : { id }) };
}

function unreachable(base: URL, cause: unknown): AppError {
  const sentence = `The orchestrator at ${base.origin} could not be reached (${messageOf(cause)}): is it running?`;
  return new AppError('EXECUTOR_UNREACHABLE', sentence, { cause });
}
