import type { CallRow } from '@mcpbridge/shared/call-row.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import { boundedJson, cutText, withoutMark } from './bounded-json.js';
import { callRow } from './call-row.js';
import type { SentRecord } from './record-text.js';

export const ARGUMENT_BYTES = 4096;
export const RESULT_BYTES = 16 * 1024;
const MESSAGE_BYTES = 2048;

/** In the order in which `storedCall` gives their values. */
export const CALL_COLUMNS = [
  ...['seq', 'id', 'started_at', 'principal', 'session_id', 'client', 'project', 'kind', 'server', 'tool'],
  ...[
    'arguments',
    'arguments_cut',
    'outcome',
    'error_code',
    'error_message',
    'duration_ms',
    'duration_class',
  ],
  ...['argument_bytes', 'result_bytes', 'result', 'result_cut', 'result_kept', 'parent', 'via', 'replay_of'],
  ...['rule_ms', 'waiting_ms', 'queue_ms', 'upstream_ms', 'notes'],
] as const;

/** What becomes of a record: its values for the table, its row for who watches, and its texts for their filters. */
export interface StoredCall {
  values: unknown[];
  argumentBytes: number;
  /** Made only when somebody watches. */
  row(): CallRow;
  kept: { arguments: string; message?: string };
}

export function storedCall(record: SentRecord, seq: number, hide: Hide): StoredCall {
  const args = redactedJson(record.arguments, ARGUMENT_BYTES, hide, record.argumentsUnsent);
  const result =
    record.result === undefined
      ? undefined
      : redactedJson(record.result, RESULT_BYTES, hide, record.resultUnsent);
  const message =
    record.errorMessage === undefined ? undefined : cutText(hide(record.errorMessage), MESSAGE_BYTES);
  const argumentBytes = record.argumentBytes ?? args.bytes;
  const { outcome } = record;
  // Callers make up names of tools and of themselves.
  const tool = hide(record.tool);
  const server = hide(record.server);
  const client = record.client === undefined ? undefined : hide(record.client);
  const told = message === undefined ? {} : { errorMessage: message };
  const row = () =>
    callRow({ ...record, seq, server, tool, client, argumentBytes, ...told }, args.text.slice(0, 320));
  const values = [
    seq,
    record.id,
    Math.round(record.startedAt),
    record.principal,
    record.sessionId,
    client ?? null,
    record.project ?? null,
    record.kind,
    server,
    tool,
    args.text,
    args.cut,
    outcome,
    record.errorCode ?? null,
    message ?? null,
    record.durationMs,
    durationClass(record.durationMs),
    argumentBytes,
    record.resultBytes,
    result?.text ?? null,
    result?.cut ?? 0,
    record.spilled ? 1 : 0,
    record.parent ?? null,
    record.via ?? null,
    record.replayOf ?? null,
    record.ruleMs ?? null,
    record.waitingMs ?? null,
    record.queueMs ?? null,
    record.upstreamMs ?? null,
    record.notes ? redactedJson(record.notes, RESULT_BYTES, hide).text : null,
  ];
  return {
    values,
    argumentBytes,
    row,
    kept: { arguments: args.text, ...(message === undefined ? {} : { message }) },
  };
}

/** Redacted before it is cut: half a secret would not be known for one. */
function redactedJson(value: unknown, limit: number, hide: Hide, unsent = 0) {
  const { text, bytes, cut } = boundedJson(value, limit, hide);
  if (unsent === 0) return { text, bytes, cut };
  return {
    text: `${withoutMark(text, cut)}… [${cut + unsent} bytes cut]`,
    bytes: bytes + unsent,
    cut: cut + unsent,
  };
}

/** Eight classes to each doubling: percentiles are told from these to within 5 %. */
export function durationClass(ms: number): number {
  return Math.round(8 * Math.log2(Math.max(ms, 0.01)));
}

/** The middle of a class, in milliseconds. */
export function durationOf(grade: number): number {
  return 2 ** (grade / 8);
}
