import type { KeptTexts } from '@mcpbridge/shared/call-filter-match.js';
import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { redactByKey } from '@mcpbridge/shared/redact.js';
import { weigh } from './bounded-json.js';
import type { CallRecord } from './call-record.js';
import { ARGUMENT_BYTES, RESULT_BYTES } from './call-values.js';
import { recordText, type SentRecord } from './record-text.js';
import type { RecordsQuestion, ScribeAnswer, ScribeQuestion } from './scribe-thread.js';
import type { Spilled } from './spilled.js';
import { sqliteThread } from './sqlite-connection.js';
import { ThreadLink } from './thread-link.js';
import { isWithin } from './weight.js';

/** A call's row as who watches gets it, and what their filters look at. */
export interface WatchedRow {
  row: CallRow;
  kept: KeptTexts;
}

type Question = ScribeQuestion extends infer Q ? (Q extends { id: number } ? Omit<Q, 'id'> : never) : never;

/** A record on its way: its text, or itself where it is long and only its beginning will be written. */
export interface QueuedRecord {
  seq?: number;
  content: string | CallRecord;
  bytes: number;
}

export type NumberedRecord = QueuedRecord & { seq: number };

interface Written {
  rows: WatchedRow[];
  failure: string | undefined;
}

/** Results up to here are kept whole in a file; of larger ones only the beginning. */
const MAX_SPILLED_BYTES = 32 * 1024 * 1024;
/** On their way to files, together. */
const MAX_SPILLING_BYTES = 64 * 1024 * 1024;

/**
 * Redacts, bounds and writes down in a thread of its own with a connection of its own, so that calls do not pay for it:
 * here records are only written as JSON, and of long values only the beginning.
 */
export class Scribe {
  private link: ThreadLink<Question, ScribeAnswer> | undefined;
  private secrets: string[] = [];
  private spilling = 0;

  /** `file`: the store's; its tables are there before the first record. */
  constructor(
    private readonly file: string,
    private readonly spilled: Spilled,
  ) {}

  /**
   * Written at once where it is short: a text is less to keep alive for a tenth of a second than what it was made of.
   * A long one waits until its call has been answered.
   */
  take(record: CallRecord, bytes: number): QueuedRecord {
    const isShort = isWithin(record.arguments, 2 * ARGUMENT_BYTES) && isWithin(record.result, RESULT_BYTES);
    return { content: isShort ? recordText(record) : record, bytes };
  }

  /**
   * Writes the records down, all or none. `rows`: where they are wanted, those of the records from the index `from` on;
   * the others were counted and shown before. `failure`: why nothing was stored.
   */
  write(records: readonly NumberedRecord[], from: number, wantsRows: boolean): Promise<Written> {
    return this.send(records, { from, rows: wantsRows, store: true });
  }

  /** Counts and shows them without writing them down. */
  show(records: readonly NumberedRecord[], wantsRows: boolean): Promise<Written> {
    return this.send(records, { from: 0, rows: wantsRows, store: false });
  }

  /** Texts that are blanked wherever they stand. */
  knows(secrets: Iterable<string>): void {
    this.secrets = [...secrets];
    // Before the first record there is no thread; it is told when it starts.
    if (this.link) this.tellSecrets(this.link);
  }

  /** What it counted of calls, in the OpenMetrics format; empty before the first one. */
  async metrics(): Promise<string> {
    return this.link ? ((await this.ask({ metrics: true })).metrics ?? '') : '';
  }

  async close(): Promise<void> {
    await this.link?.close({ end: true }).catch(() => {
      // It has ended before.
    });
  }

  private async send(
    records: readonly NumberedRecord[],
    how: Omit<RecordsQuestion, 'records' | 'numbers'>,
  ): Promise<Written> {
    const texts = records.map(({ content }) => this.textOf(content));
    const numbers = records.map(({ seq }) => seq);
    const { rows, failure } = await this.ask({ records: `[${texts.join()}]`, numbers, ...how });
    return { rows: rows === undefined ? [] : JSON.parse(rows), failure };
  }

  /** A thread that ended, for whatever reason, is replaced at the next question. */
  private ask(question: Question): Promise<ScribeAnswer> {
    if (!this.link || this.link.isOver) {
      this.link = new ThreadLink(
        'scribe',
        new URL('./scribe-thread.js', import.meta.url),
        sqliteThread(this.file),
      );
      this.tellSecrets(this.link);
    }
    return this.link.ask(question);
  }

  private tellSecrets(link: ThreadLink<Question, ScribeAnswer>): void {
    link.ask({ secrets: this.secrets }).catch(() => {
      // The thread has ended; whoever asks it next hears why.
    });
  }

  private textOf(content: QueuedRecord['content']): string {
    return typeof content === 'string' ? content : recordText(this.bounded(content));
  }

  private bounded(record: CallRecord): SentRecord {
    const sent: SentRecord = { ...record };
    if (!isWithin(record.arguments, 2 * ARGUMENT_BYTES)) {
      sent.arguments = beginning(record.arguments, ARGUMENT_BYTES);
      sent.argumentsUnsent = unsent(record.arguments, sent.arguments, ARGUMENT_BYTES);
    }
    if (!isWithin(record.result, RESULT_BYTES)) {
      sent.result = beginning(record.result, RESULT_BYTES);
      sent.resultUnsent = unsent(record.result, sent.result, RESULT_BYTES);
      sent.spilled = this.spill(record.id, record.result);
    }
    return sent;
  }

  /** Handed over as it is: a thread takes long strings for the price of a copy. */
  private spill(id: string, result: unknown): boolean {
    const bytes = weigh(result);
    if (bytes > MAX_SPILLED_BYTES || this.spilling + bytes > MAX_SPILLING_BYTES) return false;
    this.spilling += bytes;
    const done = () => {
      this.spilling -= bytes;
    };
    this.ask({ spill: { file: this.spilled.fileOf(id), result } }).then(done, done);
    return true;
  }
}

/** Twice what is kept, so that a secret at the border is still whole when it is looked for. */
function beginning(value: unknown, limit: number): unknown {
  return redactByKey(value, { characters: 2 * limit });
}

/** Bytes that were left behind. What is no longer than the limit is whole: long secrets may have gone from it. */
function unsent(value: unknown, head: unknown, limit: number): number {
  const sent = weigh(head);
  return sent <= limit ? 0 : Math.max(0, weigh(value) - sent);
}
