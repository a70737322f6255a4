import type { CallNote, CallOrigin } from '@mcpbridge/shared/call-row.js';

export type CallOutcome = 'ok' | 'tool_error' | 'failed' | 'refused' | 'cancelled';

/** One use of one tool, as the pipeline saw it. It is kept as it came until the scribe's thread has redacted and bounded it. */
export interface CallRecord {
  /** Given when it is about to be stored; grows. */
  seq?: number;
  id: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  principal: string;
  sessionId: string;
  /** Name and version of the client. */
  client?: string | undefined;
  /** The folder that the client works in, by its last name. */
  project?: string | undefined;
  kind: string;
  server: string;
  tool: string;
  arguments: unknown;
  outcome: CallOutcome;
  errorCode?: string;
  errorMessage?: string;
  durationMs: number;
  /** Measured when the record is stored where the caller does not know it. */
  argumentBytes?: number;
  /** Of texts and data. */
  resultBytes: number;
  result?: unknown;
  /** The call within which this one was made. */
  parent?: string | undefined;
  via?: CallOrigin | undefined;
  /** The call that this one repeats. */
  replayOf?: string | undefined;
  /** Parts of the duration, in milliseconds; what is left is shaping the result. */
  ruleMs?: number;
  waitingMs?: number;
  queueMs?: number;
  upstreamMs?: number;
  notes?: CallNote[];
}
