import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Principal } from '../auth/principal.js';
import type { Exchange } from './exchange.js';

/** What a route's record says of itself; the OpenAPI document is made from these. */
export interface RouteDescription {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` for what varies, and `{*name}` for the rest of the path. */
  path: string;
  summary: string;
  /** JSON Schema of the request body, where there is one. */
  body?: JsonObject;
  /** Names of query parameters with what they mean. */
  query?: Record<string, string>;
  /** True for the few that answer without a token. */
  open?: true;
  /** True for what the token of a session and any key may do as well; all else is the owner's, and that of admin keys. */
  forSessions?: true;
  /** True for what any key may do, within what is its own. */
  forKeys?: true;
}

/** On the hot road: gets the bare request and writes the answer itself. */
export interface HotRoute extends RouteDescription {
  handle(exchange: Exchange): Promise<void>;
}

/** Off the hot road: gets what Express read and returns the answer. */
export interface PlainRoute extends RouteDescription {
  run(input: RouteInput): Promise<RouteReply> | RouteReply;
}

/** Off the hot road, and with a body or an answer of any size: it reads and writes by itself. */
export interface StreamRoute extends RouteDescription {
  stream(request: IncomingMessage, response: ServerResponse, principal: Principal): Promise<void>;
}

export interface RouteInput {
  params: Record<string, string>;
  query: Record<string, string | undefined>;
  body: unknown;
  principal: Principal;
  headers: IncomingHttpHeaders;
  /** Of the X-Session-ID header, else the one that the token is bound to. */
  sessionId?: string;
}

/** `etag`: answered 304 when the client has that one. `write` answers by itself, for what is no JSON or has no end. */
export type RouteReply =
  | { status?: number; body: unknown; etag?: string; headers?: Record<string, string> }
  | { write(response: ServerResponse): void };
