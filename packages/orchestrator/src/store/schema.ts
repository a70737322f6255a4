import type { Generated } from 'kysely';

/** The tables as they are after the last migration; JSON and times are text and milliseconds, as Postgres has them too. */
export interface StoreSchema {
  calls: CallsTable;
  sessions: SessionsTable;
  tool_lists: ToolListsTable;
  session_tokens: SessionTokensTable;
  keys: KeysTable;
  secrets: SecretsTable;
  session_tools: SessionToolsTable;
  accepted_tools: AcceptedToolsTable;
  kept_calls: KeptCallsTable;
  proposals: ProposalsTable;
  decisions: DecisionsTable;
  remembered_approvals: RememberedApprovalsTable;
  blocked_tools: BlockedToolsTable;
  agent_conversations: AgentConversationsTable;
  agent_runs: AgentRunsTable;
  agent_entries: AgentEntriesTable;
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
  /** Of `durationClass`; null in records of older versions. */
  duration_class: number | null;
  argument_bytes: number;
  result_bytes: number;
  /** Redacted and bounded, as the arguments. */
  result: string | null;
  result_cut: number;
  /** 1: the whole result is in a file of its own. */
  result_kept: number;
  project: string | null;
  parent: string | null;
  via: string | null;
  replay_of: string | null;
  rule_ms: number | null;
  waiting_ms: number | null;
  queue_ms: number | null;
  upstream_ms: number | null;
  /** Progress and log lines as JSON. */
  notes: string | null;
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

export interface KeysTable {
  id: string;
  name: string;
  /** SHA-256 of the key, which itself is nowhere. */
  hash: string;
  admin: number;
  /** JSON of KeyRights. */
  rights: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
}

export interface SecretsTable {
  name: string;
  /** A compact JWE. */
  sealed: string;
  changed_at: number;
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

export interface KeptCallsTable {
  session_id: string;
  call_id: string;
  record: string;
  /** The result or the failure as JSON; null: begun, and its end is not known. */
  outcome: string | null;
}

export interface ProposalsTable {
  id: string;
  session_id: string;
  call_id: string;
  principal: string;
  client: string | null;
  server: string;
  tool: string;
  arguments: string;
  created_at: number;
  expires_at: number;
  status: 'waiting' | 'accepted' | 'rejected' | 'expired';
  note: string | null;
  edited: string | null;
}

export interface DecisionsTable {
  seq: Generated<number>;
  state: string;
  /** The proposal with what became of it as JSON, secrets blanked. */
  content: string;
}

export interface RememberedApprovalsTable {
  session_id: string;
  /** Server, tool and, where it holds for these alone, a digest of the arguments. */
  covers: string;
}

export interface BlockedToolsTable {
  server: string;
  /** Of the tool's definition. */
  hash: string;
}

/** What is searched by stands in columns, the rest in `content` as JSON. */
export interface AgentConversationsTable {
  id: string;
  session_id: string;
  owner: string;
  updated_at: number;
  content: string;
}

export interface AgentRunsTable {
  id: string;
  conversation_id: string;
  parent: string | null;
  state: string;
  content: string;
}

export interface AgentEntriesTable {
  seq: Generated<number>;
  conversation_id: string;
  run_id: string;
  at: number;
  content: string;
}
