import type { SessionRow } from '../store/session-store.js';
import { Session } from './session.js';

/** What is kept of a session when its process ends; its parent is named. */
export function rowOf(session: Session): SessionRow {
  const { sessionId, owner, lifetime, createdAt, lastUsedAt, policy, parent, expiresAt } = session;
  const row: SessionRow = { id: sessionId, owner, lifetime, createdAt, lastUsedAt };
  if (Object.keys(policy).length > 0) row.policy = policy;
  if (parent) row.parent = parent.sessionId;
  if (expiresAt !== undefined) row.expiresAt = expiresAt;
  return row;
}

/** The session of a row, less its parent. */
export function sessionOf({ id, owner, lifetime, createdAt, policy = {}, expiresAt }: SessionRow): Session {
  const session = new Session(id, owner, lifetime, createdAt);
  session.policy = policy;
  session.expiresAt = expiresAt;
  return session;
}
