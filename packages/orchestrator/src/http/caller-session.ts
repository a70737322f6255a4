import { HEADER } from '@mcpbridge/shared/wire.js';
import type { Session } from '../sessions/session.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Exchange } from './routes.js';

/** The session that a request names: in its path, else in its header, else in its body; undefined when it names none. */
export async function namedSession(
  sessions: Sessions,
  exchange: Exchange,
  inBody?: string,
): Promise<Session | undefined> {
  const { request, principal, params } = exchange;
  const id = params.session ?? header(exchange, HEADER.session) ?? inBody;
  if (id === undefined) return undefined;
  const lifetime = header(exchange, HEADER.sessionLifetime) === 'connection' ? 'connection' : 'lasting';
  const session = sessions.known(principal.id, id) ?? (await sessions.enter(principal.id, id, lifetime));
  sessions.hold(session, request.socket);
  return session;
}

/** As namedSession; a caller that names none gets its principal's own. */
export async function callerSession(
  sessions: Sessions,
  exchange: Exchange,
  inBody?: string,
): Promise<Session> {
  return (await namedSession(sessions, exchange, inBody)) ?? sessions.ofPrincipal(exchange.principal.id);
}

function header(exchange: Exchange, name: string): string | undefined {
  const value = exchange.request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
