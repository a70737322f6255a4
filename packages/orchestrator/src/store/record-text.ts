import type { CallOrigin } from '@mcpbridge/shared/call-row.js';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { CallOutcome, CallRecord } from './call-record.js';

/** A record that crosses to the scribe's thread. */
export interface SentRecord extends CallRecord {
  /** Bytes of what was cut from arguments and result before they were sent. */
  argumentsUnsent?: number;
  resultUnsent?: number;
  /** The whole result goes to a file of its own. */
  spilled?: boolean;
}

/** What few records have, together. */
export type RareMembers = Pick<
  SentRecord,
  'errorMessage' | 'parent' | 'replayOf' | 'notes' | 'argumentsUnsent' | 'resultUnsent' | 'spilled'
>;

/** A record as the scribe's thread gets it: arguments and result are text, which it need not read. */
export interface ReceivedRecord {
  id: string;
  startedAt: number;
  durationMs: number;
  argumentBytes: number | undefined;
  resultBytes: number;
  ruleMs: number | undefined;
  waitingMs: number | undefined;
  queueMs: number | undefined;
  upstreamMs: number | undefined;
  /** For `readGroup`. */
  group: string;
  /** JSON. */
  arguments: string;
  result: string | undefined;
  rare: RareMembers | undefined;
}

/** Who called what, and how it ended: what many records have in common. */
export type GroupMembers = Pick<
  CallRecord,
  | 'principal'
  | 'sessionId'
  | 'client'
  | 'project'
  | 'kind'
  | 'server'
  | 'tool'
  | 'outcome'
  | 'errorCode'
  | 'via'
>;

/** Lines of one record, each ended by a line break: group, figures, arguments, result, rare members. */
const LINES = 5;
/** The ten members of a group, of which none has a tab or a line break within it. */
const PLAIN_GROUP = /^=[^\t\n]*(?:\t[^\t\n]*){9}$/;

/**
 * A record as lines of text, which the scribe takes apart for a fraction of what reading JSON costs; the JSON within them
 * has neither tabs nor line breaks. The group is left out where it is that of the record `before`, in the same text. The
 * record's number is not yet known, and is sent beside it. Ids are ours, and plain.
 */
export function recordLines(record: SentRecord, before?: GroupMembers): string {
  try {
    const { result } = record;
    const answer = result === undefined ? '' : JSON.stringify(result);
    return `${headOf(record, before)}\n${JSON.stringify(record.arguments) ?? 'null'}\n${answer}\n${rareOf(record)}\n`;
  } catch (error) {
    // What cannot be written as JSON must not keep its neighbours from the disk.
    const { result: _, notes: __, ...rest } = record;
    return recordLines({ ...rest, arguments: `[not JSON: ${messageOf(error)}]` }, before);
  }
}

function headOf(record: SentRecord, before: GroupMembers | undefined): string {
  const { argumentBytes = '', ruleMs, waitingMs, queueMs, upstreamMs } = record;
  const times = `${micros(ruleMs)}\t${micros(waitingMs)}\t${micros(queueMs)}\t${micros(upstreamMs)}`;
  const group = before && isAlike(record, before) ? '' : groupText(record);
  return `${group}\n${record.id}\t${Math.round(record.startedAt)}\t${micros(record.durationMs)}\t${argumentBytes}\t${record.resultBytes}\t${times}`;
}

/** Whole microseconds: fractions cost a multiple to write. */
function micros(ms: number | undefined): number | '' {
  return ms === undefined ? '' : Math.round(ms * 1000);
}

function isAlike(one: GroupMembers, other: GroupMembers): boolean {
  return (
    one.tool === other.tool &&
    one.sessionId === other.sessionId &&
    one.outcome === other.outcome &&
    one.server === other.server &&
    one.principal === other.principal &&
    one.client === other.client &&
    one.project === other.project &&
    one.kind === other.kind &&
    one.errorCode === other.errorCode &&
    one.via === other.via
  );
}

function groupText(record: GroupMembers): string {
  const { principal, sessionId, client = '', project = '', kind, server, tool } = record;
  const { outcome, errorCode = '', via = '' } = record;
  const plain = `=${principal}\t${sessionId}\t${client}\t${project}\t${kind}\t${server}\t${tool}\t${outcome}\t${errorCode}\t${via}`;
  if (PLAIN_GROUP.test(plain)) return plain;
  // Names that clients choose may hold anything.
  return JSON.stringify([
    ...[principal, sessionId, client, project, kind, server, tool],
    ...[outcome, errorCode, via],
  ]);
}

function rareOf(record: SentRecord): string {
  const { errorMessage, parent, replayOf, notes, argumentsUnsent, resultUnsent, spilled } = record;
  if (
    (errorMessage ?? parent ?? replayOf ?? notes ?? argumentsUnsent ?? resultUnsent ?? spilled) === undefined
  )
    return '';
  return JSON.stringify({ errorMessage, parent, replayOf, notes, argumentsUnsent, resultUnsent, spilled });
}

/** The texts of records, one after the other. */
export function readRecords(text: string): ReceivedRecord[] {
  const records: ReceivedRecord[] = [];
  const lines = text.split('\n');
  let group = '';
  for (let at = 0; at + LINES <= lines.length; at += LINES) {
    const figures = lineOf(lines, at + 1).split('\t');
    const rare = lineOf(lines, at + 4);
    group = lineOf(lines, at) || group;
    records.push({
      group,
      id: figures[0] ?? '',
      startedAt: Number(figures[1]),
      durationMs: Number(figures[2]) / 1000,
      argumentBytes: figure(figures[3]),
      resultBytes: Number(figures[4]),
      ruleMs: time(figures[5]),
      waitingMs: time(figures[6]),
      queueMs: time(figures[7]),
      upstreamMs: time(figures[8]),
      arguments: lineOf(lines, at + 2),
      result: lineOf(lines, at + 3) || undefined,
      rare: rare === '' ? undefined : JSON.parse(rare),
    });
  }
  return records;
}

export function readGroup(text: string): GroupMembers {
  const members: string[] = text.startsWith('=') ? text.slice(1).split('\t') : JSON.parse(text);
  const [principal = '', sessionId = '', client, project, kind = '', server = '', tool = ''] = members;
  const [outcome, errorCode, via] = members.slice(7);
  return {
    ...{
      principal,
      sessionId,
      client: client || undefined,
      project: project || undefined,
      kind,
      server,
      tool,
    },
    // Written here, from members of these types.
    outcome: outcome as CallOutcome,
    ...(errorCode ? { errorCode } : {}),
    via: via ? (via as CallOrigin) : undefined,
  };
}

const lineOf = (lines: readonly string[], at: number): string => lines[at] ?? '';

const figure = (text: string | undefined): number | undefined => (text ? Number(text) : undefined);

/** In milliseconds, of a text in microseconds. */
const time = (text: string | undefined): number | undefined => (text ? Number(text) / 1000 : undefined);
