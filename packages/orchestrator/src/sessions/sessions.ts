import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { SessionPolicy } from '@mcpbridge/shared/policy.js';
import type { Log } from '../log.js';
import type { SessionLifetime, SessionRow, SessionStore } from '../store/session-store.js';
import { checkId, isTheirs, notFound, type SessionBearer, usualIdOf } from './bearer.js';
import { effectivePolicy } from './effective-policy.js';
import { Holds } from './holds.js';
import { Session } from './session.js';
import { rowOf, sessionOf } from './session-row.js';

const EXPIRY_CHECK_MS = 5000;
/** Sessions under sessions, at most. */
const MAX_DEPTH = 8;

export interface NewSession {
  id?: string;
  policy: SessionPolicy;
  /** Of the parent's owner. */
  parent?: string;
  /** Milliseconds since the epoch. */
  expiresAt?: number;
}

interface Listeners {
  /** Before anybody gets the session. */
  open: (session: Session) => Promise<void> | void;
  /** What it may do is, or may be, another. */
  policy: (session: Session) => void;
  end: (session: Session) => void;
  /** A session has ended, one that was not open in this process too: what is stored of it goes. */
  gone: (sessionId: string) => void;
}

/** All open sessions of this process; the store keeps what must outlive it. */
export class Sessions {
  private readonly open = new Map<string, Session>();
  private readonly opening = new Map<string, Promise<Session>>();
  private readonly holds = new Holds((session) => void this.end(session));
  private readonly listeners: { [Event in keyof Listeners]: Listeners[Event][] } = {
    open: [],
    policy: [],
    end: [],
    gone: [],
  };
  private readonly sweep = setInterval(() => void this.endExpired(), EXPIRY_CHECK_MS).unref();

  constructor(
    private readonly store: SessionStore,
    private readonly log: Log,
    /** What the sessions of that principal may have at most; undefined: everything. */
    private readonly rightsOf: (owner: string) => SessionPolicy | undefined,
  ) {}

  on<Event extends keyof Listeners>(event: Event, listener: Listeners[Event]): void {
    this.listeners[event].push(listener);
  }

  /** The session if it is open in this process, whosever it is. */
  get(sessionId: string): Session | undefined {
    return this.open.get(sessionId);
  }

  get size(): number {
    return this.open.size;
  }

  /** The session if it is open in this process and this bearer's. */
  known(bearer: SessionBearer, sessionId: string): Session | undefined {
    const session = this.open.get(sessionId);
    if (session === undefined) return undefined;
    if (!isTheirs(bearer, session) || isOver(session)) throw notFound(sessionId);
    session.lastUsedAt = Date.now();
    this.store.touch(sessionId, session.lastUsedAt);
    return session;
  }

  /**
   * The session of that id, made on first use.
   * @throws SESSION_NOT_FOUND when it is another principal's or was ended: the same answer, so that ids cannot be probed.
   */
  async enter(
    bearer: SessionBearer,
    sessionId: string,
    lifetime: SessionLifetime = 'lasting',
  ): Promise<Session> {
    checkId(sessionId);
    // Whoever else is loading it may be somebody who may not have it.
    for (let other = this.opening.get(sessionId); other; other = this.opening.get(sessionId))
      await other.catch(() => undefined);
    if (!this.open.has(sessionId)) await this.load(bearer, sessionId, lifetime);
    const session = this.known(bearer, sessionId);
    if (session) return session;
    throw notFound(sessionId);
  }

  /** A new session of the bearer's principal; @throws CONFLICT when the id is taken, SESSION_NOT_FOUND for the parent's. */
  async create(
    bearer: SessionBearer,
    { id = randomUUID(), policy, parent, expiresAt }: NewSession,
  ): Promise<Session> {
    checkId(id);
    if (this.open.has(id) || this.opening.has(id) || (await this.store.get(id))) {
      throw new AppError('CONFLICT', `The session id "${id}" is taken; leave it out to get a random one.`);
    }
    const above = parent === undefined ? undefined : await this.existing(bearer, parent);
    if (above && chainOf(above).length >= MAX_DEPTH) {
      throw new AppError('INVALID_REQUEST', `Sessions can stand at most ${MAX_DEPTH} deep under each other.`);
    }
    const session = new Session(id, bearer.id, 'lasting', Date.now());
    session.policy = policy;
    session.parent = above;
    session.expiresAt = earlier(expiresAt, above?.expiresAt);
    await this.admit(session);
    return session;
  }

  /** None is made: a parent whose name is mistyped would allow everything. */
  private async existing(bearer: SessionBearer, sessionId: string): Promise<Session> {
    if (!this.open.has(sessionId) && !this.opening.has(sessionId)) await this.row(bearer, sessionId);
    return this.enter(bearer, sessionId);
  }

  /** Members that are given replace the session's own. */
  async change(session: Session, policy: SessionPolicy, expiresAt?: number): Promise<void> {
    session.policy = { ...session.policy, ...policy };
    if (expiresAt !== undefined) session.expiresAt = earlier(expiresAt, session.parent?.expiresAt);
    await this.store.upsert(rowOf(session));
    for (const one of this.open.values()) if (chainOf(one).includes(session)) this.applyPolicy(one);
  }

  /** What a caller without a session id gets: one lasting session of its principal. */
  ofPrincipal(bearer: SessionBearer): Session | Promise<Session> {
    const id = usualIdOf(bearer);
    return this.known(bearer, id) ?? this.enter(bearer, id);
  }

  /** A new session under a random id. */
  fresh(bearer: SessionBearer, lifetime: SessionLifetime): Promise<Session> {
    return this.enter(bearer, bearer.sessionId ?? randomUUID(), lifetime);
  }

  /** Counts a connection towards a session that lives as long as its connections do. */
  hold(session: Session, socket: Socket): void {
    if (session.lifetime === 'connection') this.holds.hold(session, socket);
  }

  /** Those that the bearer may know of, used last first. */
  list({ id, isAdmin }: SessionBearer, ended: boolean): Promise<SessionRow[]> {
    return this.store.list({ ended, limit: 1000, ...(isAdmin ? {} : { owner: id }) });
  }

  /** @throws SESSION_NOT_FOUND for a stranger's as for a missing one. */
  async row(bearer: SessionBearer, sessionId: string): Promise<SessionRow> {
    const row = await this.store.get(sessionId);
    if (row && (bearer.isAdmin || isTheirs(bearer, { owner: row.owner, sessionId }))) return row;
    throw notFound(sessionId);
  }

  /** For whoever may change or end it: the session, opened. */
  async manage(bearer: SessionBearer, sessionId: string): Promise<Session> {
    const { owner } = await this.row(bearer, sessionId);
    return this.enter(bearer.isAdmin ? { id: owner } : bearer, sessionId);
  }

  /** Ends all of a principal. */
  async endAllOf(owner: string): Promise<void> {
    const rows = await this.store.list({ owner, ended: false, limit: Number.MAX_SAFE_INTEGER });
    for (const { id } of rows) await this.endById(id);
  }

  /** Ends a session for good, and those under it: who listens closes its calls and connections. */
  async end(session: Session): Promise<void> {
    const { sessionId } = session;
    if (this.open.get(sessionId) !== session) return;
    this.open.delete(sessionId);
    this.holds.forget(session);
    for (const listener of this.listeners.end) listener(session);
    await this.endStored(sessionId);
  }

  close(): void {
    clearInterval(this.sweep);
    this.holds.close();
  }

  private async endStored(sessionId: string): Promise<void> {
    for (const listener of this.listeners.gone) listener(sessionId);
    await this.store.end(sessionId, Date.now());
    for (const { id } of await this.store.ids({ parent: sessionId })) await this.endById(id);
  }

  private endById(sessionId: string): Promise<void> {
    const open = this.open.get(sessionId);
    return open ? this.end(open) : this.endStored(sessionId);
  }

  private load(bearer: SessionBearer, sessionId: string, lifetime: SessionLifetime): Promise<Session> {
    const loading = this.read(bearer, sessionId, lifetime).finally(() => this.opening.delete(sessionId));
    this.opening.set(sessionId, loading);
    return loading;
  }

  private async read(bearer: SessionBearer, sessionId: string, lifetime: SessionLifetime): Promise<Session> {
    const row = await this.store.get(sessionId);
    // The token of a session makes none.
    if (row ? !isTheirs(bearer, { owner: row.owner, sessionId }) : bearer.sessionId !== undefined)
      throw notFound(sessionId);
    if (row && (isOver(row) || (row.endedAt !== undefined && row.lifetime === 'lasting')))
      throw notFound(sessionId);
    const session = row ? sessionOf(row) : new Session(sessionId, bearer.id, lifetime, Date.now());
    if (row?.parent !== undefined) session.parent = await this.enter({ id: row.owner }, row.parent);
    await this.admit(session);
    return session;
  }

  private async admit(session: Session): Promise<void> {
    this.applyPolicy(session);
    for (const listener of this.listeners.open) {
      const done = listener(session);
      if (done) await done;
    }
    this.open.set(session.sessionId, session);
    const stored = this.store.upsert(rowOf(session));
    // What ends with its client need not be on disk before its first answer.
    if (session.lifetime === 'lasting') await stored;
    else
      stored.catch((error) =>
        this.log.warn(`Session "${session.sessionId}" was not stored: ${messageOf(error)}`),
      );
  }

  private applyPolicy(session: Session): void {
    session.effective = effectivePolicy(chainOf(session), this.rightsOf(session.owner));
    for (const listener of this.listeners.policy) listener(session);
  }

  private async endExpired(): Promise<void> {
    try {
      for (const { id } of await this.store.ids({ expiredBy: Date.now() })) await this.endById(id);
    } catch (error) {
      this.log.warn(`Sessions whose time is over were not ended: ${messageOf(error)}`);
    }
  }
}

/** The session and all above it, the topmost first. */
function chainOf(session: Session): Session[] {
  return session.parent ? [...chainOf(session.parent), session] : [session];
}

function isOver({ expiresAt }: { expiresAt?: number | undefined }): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now();
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
