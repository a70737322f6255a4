import { HEADER } from '@mcpbridge/shared/wire.js';
import type { Session } from '../sessions/session.js';
import type { Sessions } from '../sessions/sessions.js';
import { type Exchange, type HotRequest, header } from './exchange.js';

type Asking = Pick<Exchange, 'request' | 'params' | 'principal'>;

/**
 * The session that a request names: in its path, else in its header, else in its body; undefined when it names none.
 * At once when the session is open, as it is for nearly every call.
 */
export function namedSession(
  sessions: Sessions,
  exchange: Asking,
  inBody?: string,
): Session | Promise<Session> | undefined {
  const { request, principal, params } = exchange;
  const id = params.session ?? headerSession(exchange) ?? inBody ?? principal.sessionId;
  if (id === undefined) return undefined;
  const known = sessions.known(principal, id);
  if (known) return held(sessions, request, known);
  const lifetime = endsWithConnection(request) ? 'connection' : 'lasting';
  return sessions.enter(principal, id, lifetime).then((entered) => held(sessions, request, entered));
}

/** As namedSession; a caller that names none gets its principal's own. */
export function callerSession(
  sessions: Sessions,
  exchange: Asking,
  inBody?: string,
): Session | Promise<Session> {
  return namedSession(sessions, exchange, inBody) ?? sessions.ofPrincipal(exchange.principal);
}

/** A bridge that was told no session makes one up; with the token of a session it means that one. */
function headerSession({ request, principal }: Asking): string | undefined {
  const isMadeUp = principal.sessionId !== undefined && endsWithConnection(request);
  return isMadeUp ? principal.sessionId : header(request, HEADER.session);
}

function endsWithConnection(request: HotRequest): boolean {
  return header(request, HEADER.sessionLifetime) === 'connection';
}

function held(sessions: Sessions, request: HotRequest, session: Session): Session {
  sessions.hold(session, request.socket);
  session.project ??= projectOf(request);
  return session;
}

const PROJECT_CHARACTERS = 100;

function projectOf(request: HotRequest): string | undefined {
  const given = header(request, HEADER.project);
  if (given === undefined) return undefined;
  try {
    return decodeURIComponent(given).slice(0, PROJECT_CHARACTERS);
  } catch {
    return undefined; // It is no more than a name to show: one that cannot be read is none.
  }
}
