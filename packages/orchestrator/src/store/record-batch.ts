import type { CallRecord } from './call-record.js';
import { ARGUMENT_BYTES, RESULT_BYTES } from './call-values.js';
import { type GroupMembers, recordLines, type SentRecord } from './record-text.js';
import { isWithin } from './weight.js';

/** Records of one transaction: many share its costs, and other writers wait for it. */
const MOST = 2048;
const MOST_BYTES = 1024 * 1024;
/** Each may be as long as what is kept of it. */
const MOST_LONG = 64;
const FIRST_BYTES = 64 * 1024;
/** UTF-8 of one character of a string. */
const BYTES_A_CHARACTER = 3;

/**
 * Records that go to the scribe together, as text in one piece of memory outside of the heap: thousands of strings that live
 * for a tenth of a second would be what the garbage collector mostly carries about.
 */
export class RecordBatch {
  count = 0;
  /** When its first record came, by `performance.now()`. */
  since = 0;
  /** Bytes of arguments and results, as far as they are known. */
  weight = 0;
  /** The number of the first record; those of the others follow. Given once. */
  first: number | undefined;
  /** They were counted and shown, and wait for the disk. */
  told = false;
  private used = 0;
  /** The record whose text is the last. */
  private before: GroupMembers | undefined;
  private long: CallRecord[] = [];

  constructor(private memory: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)) {}

  /** It takes no more. */
  get isFull(): boolean {
    return this.count >= MOST || this.used >= MOST_BYTES || this.long.length >= MOST_LONG;
  }

  /** Written at once where it is short; a long one waits until its call has been answered. */
  add(record: CallRecord, weight: number): void {
    if (this.count === 0) this.since = performance.now();
    this.count += 1;
    this.weight += weight;
    if (isShort(record)) this.write(record);
    else this.long.push(record);
  }

  /** A copy of those of all its records; `bounded` tells what is written of a long one. */
  texts(bounded: (record: CallRecord) => SentRecord): Uint8Array<ArrayBuffer> {
    for (const record of this.long.splice(0)) this.write(bounded(record));
    return new Uint8Array(this.memory.subarray(0, this.used));
  }

  /** Once it is written down: an empty one in the same memory. */
  emptied(): RecordBatch {
    return new RecordBatch(this.memory.length > 2 * MOST_BYTES ? undefined : this.memory);
  }

  private write(record: SentRecord): void {
    const text = recordLines(record, this.before);
    this.before = record;
    const most = this.used + text.length * BYTES_A_CHARACTER;
    if (most > this.memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(most, 2 * this.memory.length));
      this.memory.copy(larger, 0, 0, this.used);
      this.memory = larger;
    }
    this.used += this.memory.write(text, this.used);
  }
}

function isShort({ arguments: args, result }: CallRecord): boolean {
  return isWithin(args, 2 * ARGUMENT_BYTES) && isWithin(result, RESULT_BYTES);
}
