import { HEADER } from '@mcpbridge/shared/wire.js';
import type { Session } from '../sessions/session.js';
import type { Sessions } from '../sessions/sessions.js';
import { type Exchange, type HotRequest, header } from './exchange.js';

/**
 * The session that a request names: in its path, else in its header, else in its body; undefined when it names none.
 * At once when the session is open, as it is for nearly every call.
 */
export function namedSession(
  sessions: Sessions,
  exchange: Exchange,
  inBody?: string,
): Session | Promise<Session> | undefined {
  const { request, principal, params } = exchange;
  const id = params.session ?? header(request, HEADER.session) ?? inBody ?? principal.sessionId;
  if (id === undefined) return undefined;
  const known = sessions.known(principal, id);
  if (known) return held(sessions, request, known);
  const lifetime = header(request, HEADER.sessionLifetime) === 'connection' ? 'connection' : 'lasting';
  return sessions.enter(principal, id, lifetime).then((entered) => held(sessions, request, entered));
}

/** As namedSession; a caller that names none gets its principal's own. */
export function callerSession(
  sessions: Sessions,
  exchange: Exchange,
  inBody?: string,
): Session | Promise<Session> {
  return namedSession(sessions, exchange, inBody) ?? sessions.ofPrincipal(exchange.principal);
}

function held(sessions: Sessions, { socket }: HotRequest, session: Session): Session {
  sessions.hold(session, socket);
  return session;
}
