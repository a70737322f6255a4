import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Services } from '../services.js';

/** What a route says of itself; the orchestrator forwards and describes exactly these. */
export interface WorkspaceRouteDescription {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{name}` for one part that varies, `{*name}` for the rest of the path. */
  path: string;
  summary: string;
  /** JSON Schema of the body; it is checked before `run`. Absent: `run` reads the request itself. */
  body?: JsonObject;
  /** Names of query parameters with what they mean. */
  query?: Record<string, string>;
  /** Runs commands: the guard comes with the session's environment. */
  withEnv?: true;
  /** The tool that does the same: who may not use that may not ask for this either. */
  tool?: string;
}

export interface WorkspaceRoute extends WorkspaceRouteDescription {
  /** Undefined: it answered by itself. */
  run(call: WorkspaceCall): Promise<WorkspaceReply | undefined>;
}

export interface WorkspaceCall {
  services: Services;
  /** What the caller may do; in plain form. */
  guard: Guard;
  /** Of the address, decoded; a rest is one text with slashes. */
  params: Record<string, string>;
  query: Record<string, string | undefined>;
  /** Checked by the route's schema, where it has one. */
  body: JsonObject;
  /** For what streams. */
  request: IncomingMessage;
  response: ServerResponse;
  /** Aborted when the caller goes away before the answer is complete. */
  signal: AbortSignal;
}

export interface WorkspaceReply {
  status?: number;
  body: JsonObject;
  headers?: Record<string, string>;
}
