import { callReply } from '@mcpbridge/shared/call-reply.js';
import { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { parseJson } from '@mcpbridge/shared/read-body.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import { traceContext } from '@mcpbridge/shared/trace-context.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import {
  CALL_ID,
  type ExecuteBody,
  executeBodySchema,
  HEADER,
  RESPOND_ASYNC,
  WHOLE_RESULT,
} from '@mcpbridge/shared/wire.js';
import type { CallRequest } from '../calls/call-request.js';
import type { CallPipeline } from '../calls/pipeline.js';
import type { Target } from '../catalog/catalog.js';
import type { Sessions } from '../sessions/sessions.js';
import { onCallerGone } from './caller-gone.js';
import { callerSession } from './caller-session.js';
import { EventReply } from './event-reply.js';
import { type Exchange, header } from './exchange.js';
import { sendJson } from './reply.js';
import type { HotRoute } from './routes.js';

interface ExecuteDeps {
  pipeline: CallPipeline;
  sessions: Sessions;
}

const argumentsSchema: JsonObject = { type: ['object', 'null'], description: 'The arguments of the tool.' };

/** The calls over REST: three routes that name the tool in the body, and the tool's own address in all its spellings. */
export function executeRoutes(deps: ExecuteDeps): HotRoute[] {
  const routes: HotRoute[] = [];
  for (const kind of ['mcp', 'custom', 'virtual'] as const) {
    const summary = kind === 'mcp' ? 'Call a tool of any kind' : `Call a ${kind} tool`;
    const path = `/api/${kind}/execute`;
    routes.push({
      method: 'POST',
      path,
      summary,
      forSessions: true,
      body: executeBodySchema,
      handle: (exchange) => byBody(deps, exchange, kind),
    });
  }
  for (const prefix of ['', '/api', '/s/{session}', '/api/s/{session}']) {
    for (const tail of ['mcp/{server}/{tool}', 'custom/{tool}', 'virtual/{tool}']) {
      const kind = tail.slice(0, tail.indexOf('/'));
      const path = `${prefix}/tools/${tail}`;
      const summary = `Call a tool${prefix.includes('session') ? ' in a session' : ''}; the body is its arguments`;
      routes.push({
        method: 'POST',
        path,
        summary,
        forSessions: true,
        body: argumentsSchema,
        handle: (exchange) => byPath(deps, exchange, kind),
      });
    }
  }
  return routes;
}

async function byBody(deps: ExecuteDeps, exchange: Exchange, kind: string): Promise<void> {
  const body = readExecuteBody(parseJson(await exchange.body()));
  await carry(deps, exchange, targetOf(kind, body), body.args, body.sessionId);
}

async function byPath(deps: ExecuteDeps, exchange: Exchange, kind: string): Promise<void> {
  const { server = kind, tool = '' } = exchange.params;
  await carry(deps, exchange, { server, tool }, parseJson(await exchange.body()));
}

/** `/api/mcp/execute` reaches every kind: by server, by the names `custom` and `virtual`, or by a listed name alone. */
function targetOf(kind: string, body: ExecuteBody): Target {
  if (kind !== 'mcp') return { server: kind, tool: body.tool };
  return body.server === undefined ? { name: body.tool } : { server: body.server, tool: body.tool };
}

const checkExecuteBody = compileSchema(executeBodySchema);

function readExecuteBody(value: unknown): ExecuteBody {
  const faults = isObject(value) ? checkExecuteBody(value) : ['the body must be a JSON object'];
  if (faults.length > 0 || !isObject(value)) {
    throw new AppError(
      'INVALID_REQUEST',
      `Send {"server_name", "tool_name", "arguments"}: ${faults.join('; ')}.`,
      { details: { faults } },
    );
  }
  const args = value.arguments ?? value.args;
  return {
    tool: text(value.tool_name) ?? text(value.tool) ?? '',
    args: isObject(args) ? args : {},
    server: text(value.server_name) ?? text(value.server),
    sessionId: text(value.session_id),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

async function carry(
  deps: ExecuteDeps,
  exchange: Exchange,
  target: Target,
  args: unknown,
  sessionInBody?: string,
): Promise<void> {
  const { request, response } = exchange;
  const found = callerSession(deps.sessions, exchange, sessionInBody);
  const session = found instanceof Promise ? await found : found;
  const abort = new Cancel();
  onCallerGone(response, abort);
  const accept = header(request, 'accept') ?? '';
  const client = header(request, 'user-agent');
  const meta = traceContext(header(request, 'traceparent'), header(request, 'tracestate'));
  const call: CallRequest = {
    session,
    target,
    args,
    abort,
    client,
    via: exchange.principal.isPage ? 'page' : undefined,
  };
  if (meta) call.meta = { ...meta };
  const callId = header(request, HEADER.callId);
  if (callId !== undefined) {
    call.callId = checkedCallId(callId);
    call.isAsync = header(request, 'prefer')?.includes(RESPOND_ASYNC) ?? false;
  }
  if (accept.includes('text/event-stream')) {
    const events = new EventReply(response);
    await events.carry(() => deps.pipeline.run({ ...call, listener: events.listener }));
    return;
  }
  answer(exchange, await deps.pipeline.run(call), accept);
}

function checkedCallId(callId: string): string {
  if (CALL_ID.test(callId)) return callId;
  throw new AppError('INVALID_REQUEST', 'X-Call-ID takes 1 to 200 letters, digits or any of "_ . : -".');
}

function answer({ response }: Exchange, result: ToolResult, accept: string): void {
  sendJson(response, 200, accept.includes(WHOLE_RESULT) ? result : callReply(result));
}
