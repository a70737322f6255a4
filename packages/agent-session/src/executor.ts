import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callReply } from '@mcpbridge/shared/call-reply.js';
import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { parseJson, readBody } from '@mcpbridge/shared/read-body.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import { HEADER, WHOLE_RESULT } from '@mcpbridge/shared/wire.js';
import { hashOf, type ServedSession } from './served-session.js';

const MAX_BODY_BYTES = 24 * 1024 * 1024;
const PATH = /^(?:\/api)?(?:\/s\/([^/]+))?\/tools\/((?:custom|virtual|mcp\/[^/]+)\/[^/]+)$/;

/** Answers `POST …/tools/…` on 127.0.0.1 for the sessions of this process; each has a token, good for it alone. */
export class Executor {
  private readonly sessions = new Map<string, ServedSession>();
  private readonly server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (request, response) => {
    this.answer(request, response).catch((thrown) => sendError(response, thrown));
  });
  private port = 0;

  async open(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Gives the answers under way a turn to leave, then cuts what is still open. */
  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    setImmediate(() => this.server.closeAllConnections());
    await closed;
  }

  add(session: ServedSession): void {
    this.sessions.set(session.tokenHash, session);
  }

  remove(session: ServedSession): void {
    this.sessions.delete(session.tokenHash);
  }

  has(sessionId: string): boolean {
    return [...this.sessions.values()].some(({ id }) => id === sessionId);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.checkHost(request);
    const owner = this.ownerOf(request);
    const { address, sessionId } = target(request);
    // A stranger's session and a missing one get the same answer, so ids cannot be probed.
    if (sessionId !== undefined && sessionId !== owner.id) {
      throw new AppError('SESSION_NOT_FOUND', `There is no session ${JSON.stringify(sessionId)} here.`);
    }
    const abort = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) abort.abort(new AppError('CALL_CANCELLED', 'The caller went away.'));
    });
    const args = argumentsOf(await readBody(request, MAX_BODY_BYTES));
    send(request, response, await owner.call(address, args, abort));
  }

  /** Against pages that reach our port under another name (DNS rebinding), and pages at all. */
  private checkHost({ headers: { host, origin } }: IncomingMessage): void {
    const isOurs = host === `127.0.0.1:${this.port}` || host === `localhost:${this.port}`;
    if (isOurs && origin === undefined) return;
    throw new AppError('FORBIDDEN_ORIGIN', 'Only programs of this machine are served here, under 127.0.0.1.');
  }

  private ownerOf({ headers }: IncomingMessage): ServedSession {
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const session = this.sessions.get(hashOf(token));
    if (session) return session;
    throw new AppError('UNAUTHORIZED', 'The token is not that of an open session.');
  }
}

function target(request: IncomingMessage): { address: string; sessionId: string | undefined } {
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const [, inPath, tail] = PATH.exec(pathname) ?? [];
  if (tail === undefined) throw new AppError('NOT_FOUND', 'Only /tools/… is served here.');
  if (request.method !== 'POST') throw new AppError('METHOD_NOT_ALLOWED', 'Tools are called by POST.');
  const inHeader = request.headers[HEADER.session];
  return {
    address: canonical(tail),
    sessionId: inPath === undefined ? inHeader?.toString() : decoded(inPath),
  };
}

/** Whatever letters the caller escaped, the tool has one address. */
function canonical(tail: string): string {
  return tail.split('/').map(decoded).map(encodeURIComponent).join('/');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new AppError('INVALID_REQUEST', `The path has a broken escape in "${part}".`, { cause });
  }
}

function argumentsOf(body: Buffer): JsonObject {
  const args = parseJson(body) ?? {};
  if (isObject(args)) return args;
  throw new AppError('INVALID_ARGUMENTS', 'The arguments must be a JSON object.');
}

function send({ headers }: IncomingMessage, response: ServerResponse, result: ToolResult): void {
  const wantsWhole = headers.accept?.includes(WHOLE_RESULT);
  sendJson(response, 200, wantsWhole ? result : callReply(result));
}

function sendError(response: ServerResponse, thrown: unknown): void {
  const error = toAppError(thrown);
  sendJson(response, error.status, { success: false, error: error.toBody() });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  // Nobody listens any more.
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
