import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Kysely, Selectable } from 'kysely';
import type { ProposalsTable, StoreSchema } from './schema.js';

export type ProposalStatus = 'waiting' | 'accepted' | 'rejected' | 'expired';

/** A proposal whose caller does not wait for it: it asks again, by the id of its call, when somebody has decided. */
export interface ParkedProposal {
  id: string;
  callId: string;
  principal: string;
  sessionId: string;
  client?: string;
  server: string;
  tool: string;
  arguments: JsonObject;
  createdAt: number;
  expiresAt: number;
  status: ProposalStatus;
  note?: string;
  /** What the person made of the arguments. */
  edited?: JsonObject;
}

export class ProposalStore {
  constructor(private readonly db: Kysely<StoreSchema>) {}

  async add(proposal: ParkedProposal): Promise<void> {
    await this.db
      .insertInto('proposals')
      .values({
        id: proposal.id,
        session_id: proposal.sessionId,
        call_id: proposal.callId,
        principal: proposal.principal,
        client: proposal.client ?? null,
        server: proposal.server,
        tool: proposal.tool,
        arguments: JSON.stringify(proposal.arguments),
        created_at: proposal.createdAt,
        expires_at: proposal.expiresAt,
        status: proposal.status,
        note: null,
        edited: null,
      })
      .execute();
  }

  /** Oldest first. */
  async waiting(): Promise<ParkedProposal[]> {
    const query = this.db.selectFrom('proposals').selectAll().where('status', '=', 'waiting');
    return (await query.orderBy('id').execute()).map(fromRow);
  }

  async get(id: string): Promise<ParkedProposal | undefined> {
    const row = await this.db.selectFrom('proposals').selectAll().where('id', '=', id).executeTakeFirst();
    return row && fromRow(row);
  }

  async ofCall(sessionId: string, callId: string): Promise<ParkedProposal | undefined> {
    const row = await this.db
      .selectFrom('proposals')
      .selectAll()
      .where('session_id', '=', sessionId)
      .where('call_id', '=', callId)
      .executeTakeFirst();
    return row && fromRow(row);
  }

  /** False when somebody was faster. */
  async decide(
    id: string,
    status: Exclude<ProposalStatus, 'waiting'>,
    note?: string,
    edited?: JsonObject,
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.db
      .updateTable('proposals')
      .set({ status, note: note ?? null, edited: edited ? JSON.stringify(edited) : null })
      .where('id', '=', id)
      .where('status', '=', 'waiting')
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async forget(sessionId: string): Promise<void> {
    await this.db.deleteFrom('proposals').where('session_id', '=', sessionId).execute();
  }
}

function fromRow(row: Selectable<ProposalsTable>): ParkedProposal {
  return {
    id: row.id,
    callId: row.call_id,
    principal: row.principal,
    sessionId: row.session_id,
    ...(row.client === null ? {} : { client: row.client }),
    server: row.server,
    tool: row.tool,
    arguments: JSON.parse(row.arguments),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    status: row.status,
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.edited === null ? {} : { edited: JSON.parse(row.edited) }),
  };
}
