import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { SESSION_ID } from '@mcpbridge/shared/wire.js';
import type { Log } from '../log.js';
import type { SessionLifetime, SessionRow, SessionStore } from '../store/session-store.js';
import { Session } from './session.js';

/** A bridge that lost its connections has this long to come back before its session is ended. */
const GRACE_MS = 3000;

type EndListener = (session: Session) => void;

/** All open sessions of this process; the store keeps what must outlive it. */
export class Sessions {
  private readonly open = new Map<string, Session>();
  /** Of each session that lives by its connections: how many it has. */
  private readonly held = new Map<Session, number>();
  /** Which sessions a connection holds; it may carry those of several. */
  private readonly holds = new WeakMap<Socket, Set<Session>>();
  private readonly graces = new Map<Session, NodeJS.Timeout>();
  private readonly endListeners: EndListener[] = [];

  constructor(
    private readonly store: SessionStore,
    private readonly log: Log,
  ) {}

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
    const stored = this.store.upsert(rowOf(session));
    // What ends with its client need not be on disk before its first answer.
    if (session.lifetime === 'lasting') await stored;
    else stored.catch((error) => this.log.warn(`Session "${sessionId}" was not stored: ${messageOf(error)}`));
    return session;
  }

  /** What a caller without a session id gets: one lasting session of its principal. */
  ofPrincipal(principalId: string): Session | Promise<Session> {
    const id = `default-${principalId}`;
    return this.known(principalId, id) ?? this.enter(principalId, id);
  }

  /** A new session under a random id. */
  fresh(principalId: string, lifetime: SessionLifetime): Promise<Session> {
    return this.enter(principalId, randomUUID(), lifetime);
  }

  /** Counts a connection towards a session that lives as long as its connections do. */
  hold(session: Session, socket: Socket): void {
    if (session.lifetime !== 'connection') return;
    const sessions = this.sessionsOn(socket);
    if (sessions.has(session)) return;
    sessions.add(session);
    this.held.set(session, (this.held.get(session) ?? 0) + 1);
    clearTimeout(this.graces.get(session));
    this.graces.delete(session);
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
    this.held.delete(session);
    clearTimeout(this.graces.get(session));
    this.graces.delete(session);
    for (const listener of this.endListeners) listener(session);
    await this.store.end(session.sessionId, Date.now());
  }

  close(): void {
    for (const timer of this.graces.values()) clearTimeout(timer);
    this.graces.clear();
  }

  private sessionsOn(socket: Socket): Set<Session> {
    const known = this.holds.get(socket);
    if (known) return known;
    const sessions = new Set<Session>();
    this.holds.set(socket, sessions);
    socket.once('close', () => {
      for (const session of sessions) this.release(session);
    });
    return sessions;
  }

  private release(session: Session): void {
    const left = (this.held.get(session) ?? 1) - 1;
    this.held.set(session, left);
    if (left > 0 || this.open.get(session.sessionId) !== session) return;
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
