import type { Caller } from '../../provider.js';

/** What a session told the server, to be told again to the next connection of the session. */
export interface SessionMemory {
  /** That a server of the legacy era keeps: of all that share a connection, the one that wants most. */
  logLevel: unknown;
  /** By session: several may share a connection. */
  readonly levels: Map<string, unknown>;
  /** By address, the sessions that subscribed. */
  readonly subscriptions: Map<string, Set<string>>;
  /** Who has used a common connection, by session. */
  readonly users: Map<string, Caller>;
}

/** Answers the addresses that nobody is subscribed to any more. */
export function forget({ levels, users, subscriptions }: SessionMemory, sessionId: string): string[] {
  levels.delete(sessionId);
  users.delete(sessionId);
  const unheard: string[] = [];
  for (const [uri, sessions] of subscriptions) {
    if (!sessions.delete(sessionId) || sessions.size > 0) continue;
    subscriptions.delete(uri);
    unheard.push(uri);
  }
  return unheard;
}
