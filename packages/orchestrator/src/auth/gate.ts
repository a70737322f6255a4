import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isLoopback } from '@mcpbridge/shared/locate.js';

/** Who is asking: what the token says. */
export interface Principal {
  id: string;
  /** The token is good for this session alone. */
  sessionId?: string;
}

const BEARER = 'Bearer ';

interface GateOptions {
  token: string;
  /** Host names besides the loopback ones, lower case. */
  allowedHosts: readonly string[];
  /** Whose a token of a session is, if it is a good one. */
  sessionOf(token: string): Principal | undefined;
}

/** As much of a request as the gate looks at. */
interface HeaderOwner {
  headers: Pick<IncomingHttpHeaders, 'host' | 'origin' | 'authorization'>;
}

/** Decides at the edge who may come in. Both roads, bare and Express, ask it. */
export class Gate {
  private readonly expected: Buffer;
  /** The latest one that was found to be ours: nearly every request has the same. */
  private usualHost: string | undefined;
  private readonly owner: Principal = { id: 'owner' };

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

  /** @throws UNAUTHORIZED */
  principalOf(request: HeaderOwner): Principal {
    const given = request.headers.authorization;
    if (given === undefined) {
      throw new AppError(
        'UNAUTHORIZED',
        'The Authorization header is missing: send "Bearer" and the token of $MCPBRIDGE_HOME/token.',
      );
    }
    const bytes = Buffer.from(given);
    if (bytes.length === this.expected.length && timingSafeEqual(bytes, this.expected)) return this.owner;
    const session = given.startsWith(BEARER) ? this.options.sessionOf(given.slice(BEARER.length)) : undefined;
    if (session) return session;
    throw new AppError(
      'UNAUTHORIZED',
      'The token is not valid here: send "Bearer" and the token of $MCPBRIDGE_HOME/token.',
    );
  }

  private isOurs(name: string): boolean {
    return isLoopback(name) || this.options.allowedHosts.includes(name);
  }
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
