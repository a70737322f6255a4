import type { IncomingMessage, ServerResponse } from 'node:http';
import { toAppError } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Principal } from '../auth/principal.js';
import type { Session } from '../sessions/session.js';
import type { CallRecord } from '../store/call-record.js';

/** Of a body or an answer; what is larger is told by its size alone. */
const KEPT_BYTES = 64 * 1024;
const REFUSED = new Set(['TOOL_NOT_ALLOWED', 'NOT_APPROVED', 'PATH_NOT_ALLOWED', 'INVALID_REQUEST']);

/** A request to the workspace for the call log: what a session does by an address is seen as what it does by a tool. */
export class WorkspaceRecord {
  private readonly since = performance.now();
  private readonly startedAt = Date.now();
  private readonly asked = new Kept();
  private readonly said = new Kept();

  /** `name`: of the tool that does the same, else the method and the route. */
  constructor(
    private readonly session: Session,
    private readonly name: string,
    private readonly request: IncomingMessage,
    private readonly principal: Principal,
  ) {}

  /** Sees the body as it goes by. */
  sent = (part: Buffer): void => this.asked.take(part);
  /** Sees the answer as it goes by. */
  answered = (part: Buffer): void => this.said.take(part);

  /** `thrown`: why nothing was answered. */
  ended(response: ServerResponse, thrown?: unknown): CallRecord {
    const { session, name, startedAt } = this;
    const { headers } = this.request;
    const answer = this.said.json();
    const failure =
      thrown === undefined ? failureOf(response.statusCode, answer) : toAppError(thrown).toBody();
    const isGone = !response.writableFinished && thrown !== undefined && response.destroyed;
    return {
      ...{ id: timeOrderedId(), startedAt, principal: session.owner, sessionId: session.sessionId },
      client: typeof headers['user-agent'] === 'string' ? headers['user-agent'] : undefined,
      ...{ kind: 'custom', server: 'custom', tool: name, arguments: this.arguments() },
      outcome: isGone
        ? 'cancelled'
        : failure === undefined
          ? 'ok'
          : REFUSED.has(failure.code)
            ? 'refused'
            : 'failed',
      ...(failure === undefined ? {} : { errorCode: failure.code, errorMessage: failure.message }),
      durationMs: performance.now() - this.since,
      argumentBytes: this.asked.bytes,
      resultBytes: this.said.bytes,
      ...(answer === undefined || failure ? {} : { result: { content: [], structuredContent: answer } }),
      via: this.principal.isPage ? 'page' : undefined,
    };
  }

  private arguments(): JsonObject {
    const { pathname, searchParams } = new URL(this.request.url ?? '/', 'http://localhost');
    const body = this.asked.json();
    const of = pathname.replace(/^\/api\/[^/]+\/?/, '');
    return {
      ...(of === '' ? {} : { path: decodeURIComponent(of) }),
      ...Object.fromEntries(searchParams),
      ...(isObject(body) ? body : {}),
    };
  }
}

/** The beginning of what goes by. */
class Kept {
  bytes = 0;
  private parts: Buffer[] = [];

  take(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes <= KEPT_BYTES) this.parts.push(part);
    else this.parts = [];
  }

  /** Undefined: it is no JSON, or too large. */
  json(): JsonObject | undefined {
    if (this.bytes === 0 || this.bytes > KEPT_BYTES) return undefined;
    try {
      const value: unknown = JSON.parse(Buffer.concat(this.parts).toString('utf8'));
      return isObject(value) ? value : undefined;
    } catch {
      return undefined; // A file, not JSON: its size is told.
    }
  }
}

function failureOf(
  status: number,
  answer: JsonObject | undefined,
): { code: string; message: string } | undefined {
  if (status < 400) return undefined;
  const error = isObject(answer?.error) ? answer.error : {};
  return {
    code: typeof error.code === 'string' ? error.code : 'INTERNAL',
    message: typeof error.message === 'string' ? error.message : `The workspace answered ${status}.`,
  };
}
