import type { Cancel } from '@mcpbridge/shared/cancel.js';
import type { RpcId } from '@mcpbridge/shared/json-rpc.js';
import { type TraceContext, traceContext } from '@mcpbridge/shared/trace-context.js';
import type { Dialect } from '../dialects/dialect.js';
import { type Exchange, header } from '../http/exchange.js';
import type { CallListener } from '../providers/provider.js';
import type { Session } from '../sessions/session.js';
import { VERSION } from '../version.js';

export const SERVER_INFO = { name: 'mcpbridge', title: 'mcpbridge orchestrator', version: VERSION };

/** For whom a method is carried out. */
export interface MethodContext {
  session: Session;
  /** The one server of `/mcp/{server}`; undefined at `/mcp`. */
  scope: string | undefined;
  /** Name and version of the client. */
  client: string;
  /** How its tools are named and described; undefined: as they are. */
  dialect: Dialect | undefined;
  /** Of the headers, for requests that say nothing of it themselves. */
  trace?: TraceContext | undefined;
  /** Of the JSON-RPC request. */
  requestId?: RpcId;
  abort: Cancel;
  listener: CallListener;
}

/** What the headers of a request say of its trace. */
export function traceOf({ request }: Exchange): TraceContext | undefined {
  return traceContext(header(request, 'traceparent'), header(request, 'tracestate'));
}
