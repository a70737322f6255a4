import type { CallRow } from '@mcpbridge/shared/call-row.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import { type BoundedJson, boundedJson, boundedText, cutText, withoutMark } from './bounded-json.js';
import type { CallGroup } from './call-groups.js';
import { callRow } from './call-row.js';
import type { ReceivedRecord } from './record-text.js';

export const ARGUMENT_BYTES = 4096;
export const RESULT_BYTES = 16 * 1024;
const MESSAGE_BYTES = 2048;

/** What each call has for itself, in the order in which `storedCall` gives their values after the group's number. */
export const OWN_COLUMNS = [
  ...[
    'seq',
    'id',
    'started_at',
    'arguments',
    'arguments_cut',
    'error_message',
    'duration_ms',
    'duration_class',
  ],
  ...['argument_bytes', 'result_bytes', 'result', 'result_cut', 'result_kept', 'parent', 'replay_of'],
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

export function storedCall(record: ReceivedRecord, group: CallGroup, seq: number, hide: Hide): StoredCall {
  const { rare = {}, durationMs } = record;
  const args = withUnsent(boundedText(record.arguments, ARGUMENT_BYTES, hide), rare.argumentsUnsent);
  const result =
    record.result === undefined
      ? undefined
      : withUnsent(boundedText(record.result, RESULT_BYTES, hide), rare.resultUnsent);
  const message =
    rare.errorMessage === undefined ? undefined : cutText(hide(rare.errorMessage), MESSAGE_BYTES);
  const argumentBytes = record.argumentBytes ?? args.bytes;
  const row = () => {
    const { id, startedAt, resultBytes } = record;
    const figures = { id, startedAt, durationMs, argumentBytes, resultBytes };
    const told = message === undefined ? {} : { errorMessage: message };
    return callRow({ ...group, seq, ...figures, parent: rare.parent, ...told }, args.text.slice(0, 320));
  };
  const values = [
    group.number,
    seq,
    record.id,
    record.startedAt,
    args.text,
    args.cut,
    message ?? null,
    durationMs,
    durationClass(durationMs),
    argumentBytes,
    record.resultBytes,
    result?.text ?? null,
    result?.cut ?? 0,
    rare.spilled ? 1 : 0,
    rare.parent ?? null,
    rare.replayOf ?? null,
    record.ruleMs ?? null,
    record.waitingMs ?? null,
    record.queueMs ?? null,
    record.upstreamMs ?? null,
    rare.notes ? boundedJson(rare.notes, RESULT_BYTES, hide).text : null,
  ];
  return {
    values,
    argumentBytes,
    row,
    kept: { arguments: args.text, ...(message === undefined ? {} : { message }) },
  };
}

/** Redacted before it was cut: half a secret would not be known for one. */
function withUnsent({ text, bytes, cut }: BoundedJson, unsent = 0): BoundedJson {
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
