/** What a session told the server, to be told again to the next connection of the session. */
export interface SessionMemory {
  logLevel: unknown;
  readonly subscriptions: Set<string>;
}
