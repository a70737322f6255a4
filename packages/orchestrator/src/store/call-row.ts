import type { CallOrigin, CallRow, CallStatus } from '@mcpbridge/shared/call-row.js';
import { ERROR_TABLE, type ErrorCode } from '@mcpbridge/shared/errors.js';
import { cutText } from './bounded-json.js';
import type { CallRecord } from './call-record.js';
import type { CallsTable } from './schema.js';

export const PREVIEW_CHARACTERS = 160;
const ROW_BYTES = 400;
/** Names that clients choose are cut in rows; a call's details have them whole. */
const NAME_CHARACTERS = 48;

/** What a row is made of: a record without payloads, or what the table has of it. */
export type RowParts = Omit<CallRecord, 'arguments' | 'result' | 'outcome' | 'notes'> & { outcome?: string };

/** `preview`: the beginning of the redacted arguments. Without an outcome the call still runs. */
export function callRow(parts: RowParts, preview: string, status = statusOf(parts.outcome)): CallRow {
  const { errorCode: code, errorMessage, client, project, kind, parent, via } = parts;
  const over = parts.outcome !== undefined;
  const row: CallRow = {
    id: parts.id,
    seq: parts.seq ?? 0,
    at: Math.round(parts.startedAt),
    ...(over ? { ms: Math.round(parts.durationMs * 100) / 100 } : {}),
    status,
    ...(code === undefined ? {} : { code, ...layerOf(code) }),
    ...(errorMessage === undefined ? {} : { error: [...errorMessage.slice(0, PREVIEW_CHARACTERS)].join('') }),
    principal: parts.principal,
    session: parts.sessionId,
    ...(client ? { client: client.slice(0, NAME_CHARACTERS) } : {}),
    ...(project ? { project: project.slice(0, NAME_CHARACTERS) } : {}),
    ...(kind === 'mcp' ? {} : { kind }),
    server: parts.server,
    tool: parts.tool,
    args: '',
    in: parts.argumentBytes ?? 0,
    ...(over ? { out: parts.resultBytes } : {}),
    ...(parent ? { parent } : {}),
    ...(via ? { via } : {}),
  };
  row.args = fitting(preview, ROW_BYTES - Buffer.byteLength(JSON.stringify(row)));
  return row;
}

export function statusOf(outcome: string | undefined): CallStatus {
  if (outcome === undefined) return 'running';
  return outcome === 'tool_error' ? 'failed' : (outcome as CallStatus);
}

function layerOf(code: string): { layer?: string } {
  return code in ERROR_TABLE ? { layer: ERROR_TABLE[code as ErrorCode].layer } : {};
}

/** As much of the arguments as the row has room for, but always enough to tell calls apart. */
function fitting(preview: string, bytes: number): string {
  const whole = [...preview].slice(0, PREVIEW_CHARACTERS).join('');
  const room = Math.max(bytes, 40);
  const over = Buffer.byteLength(JSON.stringify(whole)) - 2 - room;
  return over <= 0 ? whole : cutText(whole, Math.max(Buffer.byteLength(whole) - over, 24));
}

export type SummaryRow = Pick<
  CallsTable,
  | 'id'
  | 'started_at'
  | 'principal'
  | 'session_id'
  | 'client'
  | 'project'
  | 'kind'
  | 'server'
  | 'tool'
  | 'outcome'
  | 'error_code'
  | 'error_message'
  | 'duration_ms'
  | 'argument_bytes'
  | 'result_bytes'
  | 'parent'
  | 'via'
> & { seq: number; preview: string };

export const SUMMARY_COLUMNS = [
  ...([
    'seq',
    'id',
    'started_at',
    'principal',
    'session_id',
    'client',
    'project',
    'kind',
    'server',
    'tool',
  ] as const),
  ...([
    'outcome',
    'error_code',
    'error_message',
    'duration_ms',
    'argument_bytes',
    'result_bytes',
    'parent',
    'via',
  ] as const),
];

/** What the table holds was written by us. */
export function rowOfTable(row: SummaryRow): CallRow {
  return callRow(
    {
      seq: row.seq,
      id: row.id,
      startedAt: row.started_at,
      principal: row.principal,
      sessionId: row.session_id,
      ...(row.client === null ? {} : { client: row.client }),
      ...(row.project === null ? {} : { project: row.project }),
      kind: row.kind,
      server: row.server,
      tool: row.tool,
      outcome: row.outcome,
      ...(row.error_code === null ? {} : { errorCode: row.error_code }),
      ...(row.error_message === null ? {} : { errorMessage: row.error_message }),
      durationMs: row.duration_ms,
      argumentBytes: row.argument_bytes,
      resultBytes: row.result_bytes,
      ...(row.parent === null ? {} : { parent: row.parent }),
      ...(row.via === null ? {} : { via: row.via as CallOrigin }),
    },
    row.preview,
  );
}
