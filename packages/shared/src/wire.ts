import type { ErrorBody } from './errors.js';
import type { JsonObject } from './json-rpc.js';
import type { ToolResult } from './tools.js';

/** The answer to a call over REST: the tool's own answer whole, and its text for scripts (DESIGN.md section 4). */
export interface CallReply extends ToolResult {
  success: boolean;
  result: string;
  error?: ErrorBody;
}

/** `POST /api/{mcp,custom,virtual}/execute`; both spellings of each word are taken. */
export const executeBodySchema: JsonObject = {
  type: 'object',
  properties: {
    server_name: { type: 'string' },
    server: { type: 'string' },
    tool_name: { type: 'string' },
    tool: { type: 'string' },
    arguments: { type: ['object', 'null'] },
    args: { type: ['object', 'null'] },
    session_id: { type: 'string' },
  },
  anyOf: [{ required: ['tool_name'] }, { required: ['tool'] }],
};

export interface ExecuteBody {
  server?: string;
  tool: string;
  args: JsonObject;
  sessionId?: string;
}

/** Header names and media types of the contract. */
export const HEADER = {
  session: 'x-session-id',
  virtualScope: 'x-virtual-scope-id',
  /** `connection`: the session ends a few seconds after the last connection that named it. */
  sessionLifetime: 'x-session-lifetime',
  /** The caller's own id of a call: it is carried out once, however often it is sent. */
  callId: 'x-call-id',
  /** The last name of the folder that the client works in, percent-encoded. */
  project: 'x-project',
  mcpSession: 'mcp-session-id',
  mcpVersion: 'mcp-protocol-version',
  mcpMethod: 'mcp-method',
  mcpName: 'mcp-name',
  /** One of `dialect-names.ts`: how tools are to be named and described on `/mcp`. */
  dialect: 'x-mcp-dialect',
} as const;

/** In `Accept`: the caller wants the tool's own answer alone, without `success` and the text sent twice. */
export const WHOLE_RESULT = 'application/vnd.mcp.result+json';

/** In `Prefer` (RFC 7240): a call that needs a person's yes is answered at once instead of waiting. */
export const RESPOND_ASYNC = 'respond-async';

export const CALL_ID = /^[A-Za-z0-9_.:-]{1,200}$/;
export const SESSION_ID = /^[A-Za-z0-9_.:-]{1,128}$/;
