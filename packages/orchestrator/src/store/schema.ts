import type { Generated } from 'kysely';

/** The tables as they are after the last migration; JSON and times are text and milliseconds, as Postgres has them too. */
export interface StoreSchema {
  calls: CallsTable;
  sessions: SessionsTable;
  tool_lists: ToolListsTable;
  session_tokens: SessionTokensTable;
  session_tools: SessionToolsTable;
  accepted_tools: AcceptedToolsTable;
}

export interface CallsTable {
  seq: Generated<number>;
  id: string;
  started_at: number;
  principal: string;
  session_id: string;
  client: string | null;
  kind: string;
  server: string;
  tool: string;
  /** Redacted and bounded. */
  arguments: string;
  /** Bytes of the arguments that `arguments` does not hold; 0: it is whole, and JSON. */
  arguments_cut: number;
  outcome: string;
  error_code: string | null;
  error_message: string | null;
  duration_ms: number;
  argument_bytes: number;
  result_bytes: number;
}

export interface SessionsTable {
  id: string;
  owner: string;
  created_at: number;
  last_used_at: number;
  lifetime: string;
  client: string | null;
  policy: string | null;
  ended_at: number | null;
  parent: string | null;
  expires_at: number | null;
}

export interface SessionTokensTable {
  /** SHA-256 of the token, which itself is nowhere. */
  hash: string;
  session_id: string;
  owner: string;
  expires_at: number;
}

export interface SessionToolsTable {
  session_id: string;
  name: string;
  definition: string;
  url: string;
  /** Signs the requests to `url`. */
  secret: string;
}

export interface AcceptedToolsTable {
  server: string;
  tool: string;
  /** Its locked members as JSON. */
  definition: string;
}

export interface ToolListsTable {
  server_id: string;
  config_hash: string;
  tools: string;
  listed_at: number;
}
