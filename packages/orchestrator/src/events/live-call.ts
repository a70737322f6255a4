import type { CallDetails, CallRow } from '@mcpbridge/shared/call-row.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import { boundedJson } from '../store/bounded-json.js';
import type { CallRecord } from '../store/call-record.js';
import { callRow } from '../store/call-row.js';
import type { WatchedRow } from '../store/scribe.js';

/** A call that runs, as far as it can be watched. */
export interface LiveCall {
  record: CallRecord;
  /** It waits for a person. */
  waiting: boolean;
  over: boolean;
}

const ARGUMENT_BYTES = 4096;

/** The row of a call that runs, numbered as the event that shows it. */
export function liveRow({ record, waiting }: LiveCall, seq: number, hide: Hide): WatchedRow {
  const { outcome: _, arguments: given, errorCode: __, errorMessage: ___, ...parts } = record;
  const { text, bytes } = boundedJson(given, ARGUMENT_BYTES, hide);
  const row: CallRow = callRow(
    { argumentBytes: bytes, ...parts, tool: hide(parts.tool), server: hide(parts.server), seq },
    text.slice(0, 320),
    waiting ? 'waiting' : 'running',
  );
  return { row, kept: { arguments: text } };
}

export function liveDetails(call: LiveCall, seq: number, hide: Hide): CallDetails {
  const { row } = liveRow(call, seq, hide);
  const { text, cut } = boundedJson(call.record.arguments, ARGUMENT_BYTES, hide);
  const details: CallDetails = { ...row, arguments: cut === 0 ? JSON.parse(text) : text };
  if (cut > 0) details.argumentsCut = cut;
  if (call.record.replayOf !== undefined) details.replayOf = call.record.replayOf;
  return details;
}
