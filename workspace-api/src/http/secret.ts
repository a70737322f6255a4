import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError } from '@mcpbridge/shared/errors.js';
import { decodeGuard, GUARD_HEADER, type Guard, ownFolderGuard } from '@mcpbridge/shared/folder-guard.js';
import { HEADER, SESSION_ID } from '@mcpbridge/shared/wire.js';

/** Lets in who has the secret. @throws UNAUTHORIZED */
export function secretCheck(token: string): (request: IncomingMessage) => void {
  const expected = Buffer.from(`Bearer ${token}`);
  return ({ headers }) => {
    const given = Buffer.from(headers.authorization ?? '');
    if (given.length === expected.length && timingSafeEqual(given, expected)) return;
    throw new AppError(
      'UNAUTHORIZED',
      headers.authorization === undefined
        ? 'The Authorization header is missing: send "Bearer" and the WORKSPACE_TOKEN of this service.'
        : 'The token is not the WORKSPACE_TOKEN of this service.',
    );
  };
}

/**
 * What the request may do. Without a guard it is what a session without a policy may: its own folder. So a header that
 * was forgotten gives no one else's files.
 */
export function guardOf({ headers }: IncomingMessage): Guard {
  const encoded = headers[GUARD_HEADER];
  if (typeof encoded === 'string') return decodeGuard(encoded);
  const sessionId = headers[HEADER.session] ?? 'default';
  if (typeof sessionId === 'string' && SESSION_ID.test(sessionId)) return ownFolderGuard(sessionId);
  throw new AppError('INVALID_REQUEST', 'A session id is 1 to 128 letters, digits or any of "_ . : -".');
}
