import type { KeptTexts } from '@mcpbridge/shared/call-filter-match.js';
import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { redactByKey } from '@mcpbridge/shared/redact.js';
import { weigh } from './bounded-json.js';
import type { CallRecord } from './call-record.js';
import { ARGUMENT_BYTES, RESULT_BYTES } from './call-values.js';
import type { RecordBatch } from './record-batch.js';
import type { SentRecord } from './record-text.js';
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

export type NumberedBatch = RecordBatch & { first: number };

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
 * here records are only written as text, and of long values only the beginning.
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
   * Writes the records of a batch down, all or none. `rows`: where they are wanted, unless the batch was counted and shown
   * before. `failure`: why nothing was stored.
   */
  write(batch: NumberedBatch, wantsRows: boolean): Promise<Written> {
    return this.send(batch, { tell: !batch.told, rows: wantsRows, store: true });
  }

  /** Counts and shows them without writing them down. */
  show(batch: NumberedBatch, wantsRows: boolean): Promise<Written> {
    return this.send(batch, { tell: true, rows: wantsRows, store: false });
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
    batch: NumberedBatch,
    how: Omit<RecordsQuestion, 'records' | 'first'>,
  ): Promise<Written> {
    const records = batch.texts((record) => this.bounded(record));
    const { rows, failure } = await this.ask({ records, first: batch.first, ...how }, [records.buffer]);
    return { rows: rows === undefined ? [] : JSON.parse(rows), failure };
  }

  /** A thread that ended, for whatever reason, is replaced at the next question. */
  private ask(question: Question, transfer: ArrayBuffer[] = []): Promise<ScribeAnswer> {
    if (!this.link || this.link.isOver) {
      this.link = new ThreadLink(
        'scribe',
        new URL('./scribe-thread.js', import.meta.url),
        sqliteThread(this.file),
      );
      this.tellSecrets(this.link);
    }
    return this.link.ask(question, transfer);
  }

  private tellSecrets(link: ThreadLink<Question, ScribeAnswer>): void {
    link.ask({ secrets: this.secrets }).catch(() => {
      // The thread has ended; whoever asks it next hears why.
    });
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
