import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Principal } from '../auth/gate.js';
import type { Exchange } from './exchange.js';

/** What a route's record says of itself; the OpenAPI document is made from these. */
export interface RouteDescription {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With `{name}` for what varies. */
  path: string;
  summary: string;
  /** JSON Schema of the request body, where there is one. */
  body?: JsonObject;
  /** Names of query parameters with what they mean. */
  query?: Record<string, string>;
  /** True for the few that answer without a token. */
  open?: true;
  /** True for what the token of a session may do as well; all else is the owner's. */
  forSessions?: true;
}

/** On the hot road: gets the bare request and writes the answer itself. */
export interface HotRoute extends RouteDescription {
  handle(exchange: Exchange): Promise<void>;
}

/** Off the hot road: gets what Express read and returns the answer. */
export interface PlainRoute extends RouteDescription {
  run(input: RouteInput): Promise<RouteReply> | RouteReply;
}

export interface RouteInput {
  params: Record<string, string>;
  query: Record<string, string | undefined>;
  body: unknown;
  principal: Principal;
  /** Of the X-Session-ID header, else the one that the token is bound to. */
  sessionId?: string;
}

/** `etag`: answered 304 when the client has that one. */
export interface RouteReply {
  status?: number;
  body: unknown;
  etag?: string;
}
