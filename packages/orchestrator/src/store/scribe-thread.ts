import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { secretHider } from '@mcpbridge/shared/secrets.js';
import { CallGroups } from './call-groups.js';
import { CallInserts } from './call-inserts.js';
import { CallMetrics } from './call-metrics.js';
import { storedCall } from './call-values.js';
import { readRecords } from './record-text.js';
import { writeSpilled } from './spilled.js';
import { openSqlite } from './sqlite.js';

/** What the main thread asks of the scribe. */
export type ScribeQuestion =
  | ({ id: number } & RecordsQuestion)
  | { id: number; secrets: string[] }
  | { id: number; spill: { file: string; result: unknown } }
  | { id: number; metrics: true }
  | { id: number; end: true };

export interface RecordsQuestion {
  /** Of `recordLines`, one after the other. */
  records: Uint8Array;
  /** The place of the first in the order of events; the others follow it. */
  first: number;
  /** They are counted, as they were not before. */
  tell: boolean;
  /** Their rows are wanted, if they are told. */
  rows: boolean;
  /** They are written down, and not only counted and shown. */
  store: boolean;
}

type Said = Omit<ScribeAnswer, 'id'>;

export interface ScribeAnswer {
  id: number;
  /** JSON array of `{row, kept}`. */
  rows?: string;
  /** Why none of the records was stored. */
  failure?: string;
  /** In the OpenMetrics format, to its end mark. */
  metrics?: string;
  error?: string;
}

// Calls go before their records. Only Linux takes 0 for this thread, others for the whole process.
if (process.platform === 'linux') setPriority(0, 5);
let hide = secretHider();
const metrics = new CallMetrics();
const file = await openSqlite(workerData);
const groups = new CallGroups(file, metrics, hide);
const inserts = new CallInserts(file);

function answer(question: ScribeQuestion): Said | Promise<Said> {
  if ('secrets' in question) {
    hide = secretHider(question.secrets);
    groups.hideWith(hide);
  } else if ('spill' in question) writeSpilled(question.spill.file, question.spill.result, hide);
  else if ('metrics' in question) return metrics.text().then((text) => ({ metrics: text }));
  else if ('records' in question) return write(question);
  else file.close();
  return {};
}

function write({ records, first, tell, rows: wantsRows, store }: RecordsQuestion): Said {
  groups.trim();
  const values: unknown[][] = [];
  const rows: string[] = [];
  for (const [index, record] of readRecords(textOf(records)).entries()) {
    const group = groups.of(record.group);
    const stored = storedCall(record, group, first + index, hide);
    values.push(stored.values);
    if (!tell) continue;
    metrics.count(group.series, stored.argumentBytes, record.resultBytes, record.durationMs);
    if (wantsRows) rows.push(JSON.stringify({ row: stored.row(), kept: stored.kept }));
  }
  return {
    ...(rows.length > 0 ? { rows: `[${rows.join()}]` } : {}),
    ...(store ? failureOf(() => inserts.insert(values)) : {}),
  };
}

function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('utf8');
}

function failureOf(insert: () => void): { failure?: string } {
  try {
    insert();
    return {};
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

parentPort?.on('message', async (question: ScribeQuestion) => {
  let said: Said;
  try {
    const answered = answer(question);
    said = answered instanceof Promise ? await answered : answered;
  } catch (error) {
    said = { error: messageOf(error) };
  }
  parentPort?.postMessage({ id: question.id, ...said } satisfies ScribeAnswer);
  if ('end' in question) parentPort?.close();
});
