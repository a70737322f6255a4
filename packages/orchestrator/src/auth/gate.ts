import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isLoopback } from '@mcpbridge/shared/locate.js';
import type { Principal } from './principal.js';

const BEARER = 'Bearer ';

interface GateOptions {
  token: string;
  /** Host names besides the loopback ones, lower case. */
  allowedHosts: readonly string[];
  /** Whose a key or a token of a session is, if it is a good one. */
  bearerOf(token: string): Principal | undefined;
  /** Whose browser a `Cookie` header lets in. */
  pageOf(cookies: string | undefined): Principal | undefined;
  /** Tokens of login services, where there are any. */
  accessTokens?: TokenCheck | undefined;
  /** The value of `WWW-Authenticate` for one who has to bring another token (RFC 9728, RFC 6750). */
  challenge?(error: 'invalid_token' | 'insufficient_scope' | undefined, host: string | undefined): string;
}

interface TokenCheck {
  isNew(token: string): boolean;
  check(token: string): Promise<Principal>;
}

/** As much of a request as the gate looks at. */
interface HeaderOwner {
  method?: string | undefined;
  headers: Pick<IncomingHttpHeaders, 'host' | 'origin' | 'authorization' | 'cookie'> & {
    'sec-fetch-site'?: string | string[] | undefined;
  };
}

/** Decides at the edge who may come in. Both roads, bare and Express, ask it. */
export class Gate {
  private readonly expected: Buffer;
  /** The latest one that was found to be ours: nearly every request has the same. */
  private usualHost: string | undefined;
  private readonly owner: Principal = { id: 'owner', isAdmin: true };

  constructor(private readonly options: GateOptions) {
    this.expected = Buffer.from(`${BEARER}${options.token}`);
  }

  /** Against DNS rebinding: a page of another site may reach our port, but not with our name (attack list D3). */
  checkOrigin(request: HeaderOwner): void {
    const { host, origin } = request.headers;
    if (host !== undefined && origin === undefined && host === this.usualHost) return;
    if (host === undefined || !this.isOurs(hostname(host))) {
      throw new AppError(
        'FORBIDDEN_ORIGIN',
        `Requests for host ${JSON.stringify(host ?? '')} are not served; set ALLOWED_HOSTS to add a name.`,
      );
    }
    if (origin !== undefined && !this.isOurs(originHostname(origin))) {
      throw new AppError('FORBIDDEN_ORIGIN', `Pages of ${JSON.stringify(origin)} may not call this server.`);
    }
    this.usualHost = host;
  }

  /** For a token of a login service that was not seen yet: resolves when it was checked; rejects as `principalOf` throws. */
  admit(request: HeaderOwner): Promise<unknown> | undefined {
    const { accessTokens } = this.options;
    if (!accessTokens) return undefined;
    const given = request.headers.authorization;
    if (!given?.startsWith(BEARER) || !accessTokens.isNew(given.slice(BEARER.length))) return undefined;
    return accessTokens.check(given.slice(BEARER.length)).catch((error) => {
      throw this.challenged(error, request, 'invalid_token');
    });
  }

  /** A failure with the challenge that belongs to it, for one who has a login service's token, or could have one. */
  challenged(thrown: unknown, request: HeaderOwner, kind?: 'invalid_token'): unknown {
    const { challenge } = this.options;
    if (!challenge || !(thrown instanceof AppError) || thrown.headers) return thrown;
    const isScope = thrown.code === 'INSUFFICIENT_SCOPE' || thrown.code === 'TOOL_NOT_ALLOWED';
    if (!isScope && thrown.code !== 'UNAUTHORIZED') return thrown;
    const { code, message, details, retryable, cause } = thrown;
    const value = challenge(isScope ? 'insufficient_scope' : kind, request.headers.host);
    return new AppError(code, message, { cause, details, retryable, headers: { 'www-authenticate': value } });
  }

  /**
   * A browser sends its cookie with whatever page asks for it, so a cookie counts only for requests of our own page;
   * `page`: also a GET must say that it comes from there. @throws UNAUTHORIZED
   */
  principalOf(request: HeaderOwner, strictness?: 'page'): Principal {
    try {
      return this.found(request, strictness);
    } catch (thrown) {
      throw this.challenged(thrown, request);
    }
  }

  private found(request: HeaderOwner, strictness: 'page' | undefined): Principal {
    const given = request.headers.authorization;
    const page = given === undefined ? this.options.pageOf(request.headers.cookie) : undefined;
    if (page) {
      if (isOwnPage(request, strictness)) return page;
      throw new AppError('FORBIDDEN_ORIGIN', 'With a cookie only the pages of this server may ask that.');
    }
    if (given === undefined) {
      throw new AppError(
        'UNAUTHORIZED',
        'The Authorization header is missing: send "Bearer" and the token of $MCPBRIDGE_HOME/token.',
      );
    }
    const bytes = Buffer.from(given);
    if (bytes.length === this.expected.length && timingSafeEqual(bytes, this.expected)) return this.owner;
    const bearer = given.startsWith(BEARER) ? this.options.bearerOf(given.slice(BEARER.length)) : undefined;
    if (bearer) return bearer;
    throw new AppError(
      'UNAUTHORIZED',
      'The token is not valid here: send "Bearer" and the token of $MCPBRIDGE_HOME/token.',
    );
  }

  private isOurs(name: string): boolean {
    return isLoopback(name) || this.options.allowedHosts.includes(name);
  }
}

function isOwnPage({ method, headers }: HeaderOwner, strictness: 'page' | undefined): boolean {
  const { host = '', origin } = headers;
  if (origin !== undefined) return origin === `http://${host}` || origin === `https://${host}`;
  const site = headers['sec-fetch-site'];
  const isRead = (method === 'GET' || method === 'HEAD') && strictness === undefined;
  return isRead && (site === undefined || site === 'same-origin' || site === 'none');
}

function hostname(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

function originHostname(origin: string): string {
  try {
    return new URL(origin).hostname.toLowerCase();
  } catch {
    // "null" and lists of origins are nobody's name.
    return '';
  }
}
