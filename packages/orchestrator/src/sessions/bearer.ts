import { createHash } from 'node:crypto';
import { AppError } from '@mcpbridge/shared/errors.js';
import { SESSION_ID } from '@mcpbridge/shared/wire.js';

/** Who asks for a session: an owner of many, or the bearer of one session's token. */
export interface SessionBearer {
  id: string;
  sessionId?: string;
  /** May look at and end what is others'; not use it. */
  isAdmin?: boolean;
}

export function isTheirs(
  bearer: SessionBearer,
  { owner, sessionId }: { owner: string; sessionId: string },
): boolean {
  return owner === bearer.id && (bearer.sessionId === undefined || bearer.sessionId === sessionId);
}

/** The session of those who name none; what login services call people may be no id of a session. */
export function usualIdOf(bearer: SessionBearer): string {
  if (bearer.sessionId !== undefined) return bearer.sessionId;
  const id = `default-${bearer.id}`;
  return SESSION_ID.test(id) ? id : `default-${createHash('sha256').update(bearer.id).digest('hex')}`;
}

export function checkId(sessionId: string): void {
  if (!SESSION_ID.test(sessionId))
    throw new AppError('INVALID_REQUEST', 'A session id is 1 to 128 letters, digits or any of "_ . : -".');
}

/** For a stranger's as for a missing one. */
export function notFound(sessionId: string): AppError {
  return new AppError('SESSION_NOT_FOUND', `There is no session "${sessionId}".`);
}
