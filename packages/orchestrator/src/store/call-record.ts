import type { Selectable } from 'kysely';
import { boundedJson, cutText } from './bounded-json.js';
import type { CallsTable } from './schema.js';

export type CallOutcome = 'ok' | 'tool_error' | 'failed' | 'refused' | 'cancelled';

/** One use of one tool, as the pipeline saw it. */
export interface CallRecord {
  id: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  principal: string;
  sessionId: string;
  /** Name and version of the client. */
  client?: string;
  kind: string;
  server: string;
  tool: string;
  /** As they came; redacted and bounded when they are stored. */
  arguments: unknown;
  outcome: CallOutcome;
  errorCode?: string;
  errorMessage?: string;
  durationMs: number;
  /** Measured when the record is stored where the caller does not know it. */
  argumentBytes?: number;
  resultBytes: number;
}

/** A call without its arguments, for lists. */
export interface CallSummary extends Omit<CallRecord, 'arguments' | 'argumentBytes' | 'outcome'> {
  /** Grows with every stored call. */
  seq: number;
  outcome: string;
  argumentBytes: number;
  /** The beginning of the arguments as JSON. */
  preview: string;
}

export interface StoredCall extends CallSummary {
  /** The value where it was stored whole, else the beginning of its JSON with a mark that says what is missing. */
  arguments: unknown;
  /** Bytes of the arguments that are not stored. */
  argumentsCut: number;
}

const ARGUMENT_BYTES = 4096;
const MESSAGE_BYTES = 2048;
export const PREVIEW_CHARACTERS = 160;

/** In the order in which `toValues` gives their values. */
export const CALL_COLUMNS = [
  ...['id', 'started_at', 'principal', 'session_id', 'client', 'kind', 'server', 'tool'],
  ...['arguments', 'arguments_cut', 'outcome', 'error_code', 'error_message'],
  ...['duration_ms', 'argument_bytes', 'result_bytes'],
] as const;

/** What the database gets of a record. An array and not an object: this is done for every call. */
export function toValues(record: CallRecord): unknown[] {
  const { text, bytes, cut } = boundedJson(record.arguments, ARGUMENT_BYTES);
  const { errorMessage } = record;
  return [
    record.id,
    Math.round(record.startedAt),
    record.principal,
    record.sessionId,
    record.client ?? null,
    record.kind,
    record.server,
    record.tool,
    text,
    cut,
    record.outcome,
    record.errorCode ?? null,
    errorMessage === undefined ? null : cutText(errorMessage, MESSAGE_BYTES),
    record.durationMs,
    record.argumentBytes ?? bytes,
    record.resultBytes,
  ];
}

export type SummaryRow = Omit<Selectable<CallsTable>, 'arguments' | 'arguments_cut'> & { preview: string };

export function toSummary(row: SummaryRow): CallSummary {
  return {
    seq: row.seq,
    id: row.id,
    startedAt: row.started_at,
    principal: row.principal,
    sessionId: row.session_id,
    ...(row.client === null ? {} : { client: row.client }),
    kind: row.kind,
    server: row.server,
    tool: row.tool,
    outcome: row.outcome,
    ...(row.error_code === null ? {} : { errorCode: row.error_code }),
    ...(row.error_message === null ? {} : { errorMessage: row.error_message }),
    durationMs: row.duration_ms,
    argumentBytes: row.argument_bytes,
    resultBytes: row.result_bytes,
    preview: row.preview,
  };
}

export function toStoredCall(row: Selectable<CallsTable> & { preview: string }): StoredCall {
  const { arguments: text, arguments_cut: argumentsCut } = row;
  return { ...toSummary(row), arguments: argumentsCut === 0 ? JSON.parse(text) : text, argumentsCut };
}
