import type { CallRow } from './call-row.js';

/**
 * Everything that can be seen live, as one union. Events are numbered by `seq`, which only grows, over restarts too; who
 * names the last one that it saw gets those after it.
 */
export type HouseEvent =
  | CallEvent
  | ServerEvent
  | SessionEvent
  | ProposalEvent
  | CatalogEvent
  | LossEvent
  | MissedEvent;

/** A call started, waits for a person, or ended: the row replaces an earlier one of the same id. */
export interface CallEvent {
  seq: number;
  type: 'call';
  call: CallRow;
}

/** The state of an upstream server is another one. */
export interface ServerEvent {
  seq: number;
  type: 'server';
  server: { id: string; state: string; reason?: string; retryAt?: number; tools?: number };
}

export interface SessionEvent {
  seq: number;
  type: 'session';
  session: { id: string; state: 'opened' | 'changed' | 'ended'; client?: string };
}

/** A call or a question waits for a person, or was decided; `by` is who decided. */
export interface ProposalEvent {
  seq: number;
  type: 'proposal';
  proposal: {
    id: string;
    kind: 'call' | 'question';
    state: 'waiting' | 'accepted' | 'rejected' | 'expired' | 'withdrawn';
    call?: string;
    session: string;
    server: string;
    tool: string;
    expiresAt: number;
    by?: string;
  };
}

/** What sessions see of tools is another. */
export interface CatalogEvent {
  seq: number;
  type: 'catalog';
  tools: number;
}

/** Records of calls were lost since the start: the disk is full or too slow. */
export interface LossEvent {
  seq: number;
  type: 'loss';
  lost: number;
  waiting: number;
}

/** Events between these numbers cannot be sent any more; the calls among them are in `GET /api/calls` where they were kept. */
export interface MissedEvent {
  seq: number;
  type: 'missed';
  from: number;
  to: number;
}

/**
 * A message of `/api/events/ws`. `hello` is the first one. `seq` is the place up to which this watcher has everything that
 * fits its filter: it goes into `since` after a lost connection. `head` is the number of the server's latest event.
 */
export type StreamMessage =
  | { hello: { seq: number; now: number; version: string; running: CallRow[]; lost: number } }
  | { seq: number; head: number; events: HouseEvent[] };
