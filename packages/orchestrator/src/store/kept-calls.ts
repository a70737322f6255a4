import type { Kysely } from 'kysely';
import type { CallRecord } from './call-record.js';
import type { StoreSchema } from './schema.js';

/** What is known of a call that its caller named: that it was begun, or how it ended as JSON text. */
export interface KeptCall {
  record: CallRecord;
  /** Undefined: it was begun, and nobody wrote down its end. */
  outcome?: string;
}

/** Calls with an id of their caller, so that none is carried out twice; gone with their session. */
export class KeptCalls {
  constructor(private readonly db: Kysely<StoreSchema>) {}

  async find(sessionId: string, callId: string): Promise<KeptCall | undefined> {
    const row = await this.db
      .selectFrom('kept_calls')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('call_id', '=', callId)
      .executeTakeFirst();
    if (!row) return undefined;
    const record: CallRecord = JSON.parse(row.record);
    return row.outcome === null ? { record } : { record, outcome: row.outcome };
  }

  /** Resolves when it is on disk: the call may then be sent. */
  async put(callId: string, record: CallRecord, outcome?: string): Promise<void> {
    // What came of it is kept once.
    const { result, ...about } = record;
    const rest = { record: JSON.stringify(about), outcome: outcome ?? null };
    await this.db
      .insertInto('kept_calls')
      .values({ session_id: record.sessionId, call_id: callId, ...rest })
      .onConflict((conflict) => conflict.columns(['session_id', 'call_id']).doUpdateSet(rest))
      .execute();
  }

  /** One call, or all of a session. */
  async forget(sessionId: string, callId?: string): Promise<void> {
    let query = this.db.deleteFrom('kept_calls').where('session_id', '=', sessionId);
    if (callId !== undefined) query = query.where('call_id', '=', callId);
    await query.execute();
  }
}
