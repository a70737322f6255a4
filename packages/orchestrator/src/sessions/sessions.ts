import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { AppError } from '@mcpbridge/shared/errors.js';
import { SESSION_ID } from '@mcpbridge/shared/wire.js';
import type { SessionLifetime, SessionRow, SessionStore } from '../store/session-store.js';
import { Session } from './session.js';

/** A bridge that lost its connections has this long to come back before its session is ended. */
const GRACE_MS = 3000;

type EndListener = (session: Session) => void;

/** All open sessions of this process; the store keeps what must outlive it. */
export class Sessions {
  private readonly open = new Map<string, Session>();
  private readonly sockets = new Map<Session, Set<Socket>>();
  private readonly graces = new Map<Session, NodeJS.Timeout>();
  private readonly endListeners: EndListener[] = [];

  constructor(private readonly store: SessionStore) {}

  onEnd(listener: EndListener): void {
    this.endListeners.push(listener);
  }

  get size(): number {
    return this.open.size;
  }

  /** The session if it is open in this process and this principal's. */
  known(principalId: string, sessionId: string): Session | undefined {
    const session = this.open.get(sessionId);
    if (session === undefined) return undefined;
    if (session.owner !== principalId) throw notFound(sessionId);
    session.lastUsedAt = Date.now();
    this.store.touch(sessionId, session.lastUsedAt);
    return session;
  }

  /**
   * The session of that id, made on first use.
   * @throws SESSION_NOT_FOUND when it is another principal's or was ended: the same answer, so that ids cannot be probed.
   */
  async enter(
    principalId: string,
    sessionId: string,
    lifetime: SessionLifetime = 'lasting',
  ): Promise<Session> {
    if (!SESSION_ID.test(sessionId)) {
      throw new AppError('INVALID_REQUEST', 'A session id is 1 to 128 letters, digits or any of "_ . : -".');
    }
    const row = await this.store.get(sessionId);
    const known = this.known(principalId, sessionId);
    if (known) return known;
    if (row && (row.owner !== principalId || (row.endedAt !== undefined && row.lifetime === 'lasting')))
      throw notFound(sessionId);
    const session = new Session(
      sessionId,
      principalId,
      row?.lifetime ?? lifetime,
      row?.createdAt ?? Date.now(),
    );
    this.open.set(sessionId, session);
    await this.store.upsert(rowOf(session));
    return session;
  }

  /** What a caller without a session id gets: one lasting session of its principal. */
  ofPrincipal(principalId: string): Promise<Session> {
    return this.enter(principalId, `default-${principalId}`);
  }

  /** A new session under a random id. */
  fresh(principalId: string, lifetime: SessionLifetime): Promise<Session> {
    return this.enter(principalId, randomUUID(), lifetime);
  }

  /** Counts a connection towards a session that lives as long as its connections do. */
  hold(session: Session, socket: Socket): void {
    if (session.lifetime !== 'connection') return;
    let held = this.sockets.get(session);
    if (held?.has(socket)) return;
    if (!held) this.sockets.set(session, (held = new Set()));
    held.add(socket);
    clearTimeout(this.graces.get(session));
    this.graces.delete(session);
    socket.once('close', () => this.release(session, socket));
  }

  /** Used last first. */
  list(ended: boolean): Promise<SessionRow[]> {
    return this.store.list({ ended, limit: 1000 });
  }

  /** @throws SESSION_NOT_FOUND for a stranger's as for a missing one. */
  async row(principalId: string, sessionId: string): Promise<SessionRow> {
    const row = await this.store.get(sessionId);
    if (row?.owner === principalId) return row;
    throw notFound(sessionId);
  }

  /** Ends a session for good: who listens closes its calls and connections. */
  async end(session: Session): Promise<void> {
    if (this.open.get(session.sessionId) !== session) return;
    this.open.delete(session.sessionId);
    this.sockets.delete(session);
    clearTimeout(this.graces.get(session));
    this.graces.delete(session);
    for (const listener of this.endListeners) listener(session);
    await this.store.end(session.sessionId, Date.now());
  }

  close(): void {
    for (const timer of this.graces.values()) clearTimeout(timer);
    this.graces.clear();
  }

  private release(session: Session, socket: Socket): void {
    const held = this.sockets.get(session);
    if (!held?.delete(socket) || held.size > 0) return;
    const timer = setTimeout(() => void this.end(session), GRACE_MS);
    this.graces.set(session, timer.unref());
  }
}

function rowOf(session: Session): SessionRow {
  const { sessionId, owner, lifetime, createdAt, lastUsedAt } = session;
  return { id: sessionId, owner, lifetime, createdAt, lastUsedAt };
}

function notFound(sessionId: string): AppError {
  return new AppError('SESSION_NOT_FOUND', `There is no session "${sessionId}".`);
}
