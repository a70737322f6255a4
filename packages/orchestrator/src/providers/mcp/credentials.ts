/** What a server asks for in its `WWW-Authenticate` (RFC 9728, RFC 6750). */
export interface Challenge {
  resourceMetadataUrl?: string | undefined;
  scope?: string | undefined;
}

/** What a connection over HTTP shows its server, and what is done when the server does not take it. */
export interface Credentials {
  /**
   * For the next request; undefined: there is none, and perhaps none is needed.
   * @throws SIGN_IN_NEEDED, SIGN_IN_UNAVAILABLE
   */
  token(): Promise<string | undefined>;
  /** 401 to `token`: resolves when there is another one. @throws SIGN_IN_NEEDED, SIGN_IN_UNAVAILABLE */
  refused(token: string | undefined, challenge: Challenge): Promise<void>;
  /** 403 for want of a scope: resolves when there is a token that has it. @throws SIGN_IN_NEEDED, SIGN_IN_UNAVAILABLE */
  insufficient(token: string | undefined, challenge: Challenge): Promise<void>;
}
