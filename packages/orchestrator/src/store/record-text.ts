import { messageOf } from '@mcpbridge/shared/errors.js';
import type { CallRecord } from './call-record.js';

/** A record that crosses to the scribe's thread. */
export interface SentRecord extends CallRecord {
  /** Bytes of what was cut from arguments and result before they were sent. */
  argumentsUnsent?: number;
  resultUnsent?: number;
  /** The whole result goes to a file of its own. */
  spilled?: boolean;
}

/** Its number is not yet known, and is sent beside it. */
export function recordText(record: SentRecord): string {
  try {
    return JSON.stringify(record);
  } catch (error) {
    // What cannot be written as JSON must not keep its neighbours from the disk.
    const { result: _, notes: __, ...rest } = record;
    return JSON.stringify({ ...rest, arguments: `[not JSON: ${messageOf(error)}]` });
  }
}
