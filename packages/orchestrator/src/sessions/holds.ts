import type { Socket } from 'node:net';
import type { Session } from './session.js';

/** A bridge that lost its connections has this long to come back before its session is ended. */
const GRACE_MS = 2000;

/** Which connections hold the sessions that live as long as their connections do. */
export class Holds {
  /** Of each such session: how many it has. */
  private readonly held = new Map<Session, number>();
  /** Which sessions a connection holds; it may carry those of several. */
  private readonly sessionsOf = new WeakMap<Socket, Set<Session>>();
  private readonly graces = new Map<Session, NodeJS.Timeout>();

  /** `onLost` hears of a session whose connections are gone for good. */
  constructor(private readonly onLost: (session: Session) => void) {}

  hold(session: Session, socket: Socket): void {
    const sessions = this.sessionsOn(socket);
    if (sessions.has(session)) return;
    sessions.add(session);
    this.held.set(session, (this.held.get(session) ?? 0) + 1);
    this.forgive(session);
  }

  forget(session: Session): void {
    this.held.delete(session);
    this.forgive(session);
  }

  close(): void {
    for (const timer of this.graces.values()) clearTimeout(timer);
    this.graces.clear();
  }

  private forgive(session: Session): void {
    clearTimeout(this.graces.get(session));
    this.graces.delete(session);
  }

  private sessionsOn(socket: Socket): Set<Session> {
    const known = this.sessionsOf.get(socket);
    if (known) return known;
    const sessions = new Set<Session>();
    this.sessionsOf.set(socket, sessions);
    socket.once('close', () => {
      for (const session of sessions) this.release(session);
    });
    return sessions;
  }

  private release(session: Session): void {
    const held = this.held.get(session);
    if (held === undefined) return;
    this.held.set(session, held - 1);
    if (held > 1) return;
    this.graces.set(session, setTimeout(() => this.onLost(session), GRACE_MS).unref());
  }
}
