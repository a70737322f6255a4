/** Who is asking: what the token says. */
export interface Principal {
  id: string;
  /** May do what is the owner's: change the configuration, start processes, read what others did. */
  isAdmin: boolean;
  /** The token is good for this session alone. */
  sessionId?: string;
  /** Of a login service's token: what its scopes are that mean something here. */
  scopes?: readonly string[];
  /** It is a browser that was let in by a cookie. */
  isPage?: true;
}
