import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError } from '@mcpbridge/shared/errors.js';

/** A printed link that nobody follows in this time is void. */
const CODE_MS = 12 * 60 * 60_000;
/** A browser stays the owner's so long after it was let in. */
const COOKIE_MS = 7 * 24 * 60 * 60_000;
const MAX_CODES = 20;
const COOKIE = 'mcpbridge_login';

/**
 * Lets the owner's browser in without showing it the token: a code of the printed link, good once, becomes a cookie that
 * no script can read. The cookie is signed with the token and says until when it is good, so a restart forgets nobody,
 * and a new token forgets all.
 */
export class Logins {
  /** Codes and when they end. */
  private readonly codes = new Map<string, number>();
  /** Of this process: cookies that were given back. */
  private readonly left = new Set<string>();

  constructor(private readonly token: string) {}

  /** A code for one link. */
  code(): string {
    const code = randomBytes(24).toString('base64url');
    this.codes.set(code, Date.now() + CODE_MS);
    const [oldest] = this.codes.keys();
    if (this.codes.size > MAX_CODES && oldest !== undefined) this.codes.delete(oldest);
    return code;
  }

  /** The `Set-Cookie` for a code, which is void from then on, or for the token itself. @throws UNAUTHORIZED */
  enter(given: string): string {
    const until = this.codes.get(given);
    const isCode = this.codes.delete(given) && until !== undefined && until > Date.now();
    if (!isCode && !this.isToken(given))
      throw new AppError(
        'UNAUTHORIZED',
        'This link was used already or is too old: start the orchestrator anew for another, or give the token of $MCPBRIDGE_HOME/token.',
      );
    return this.cookieFor(undefined);
  }

  /** The `Set-Cookie` for somebody else than the owner, whom a login service let in. */
  admit(principalId: string): string {
    return this.cookieFor(principalId);
  }

  /** The `Set-Cookie` that takes the browser's away. */
  leave(cookies: string | undefined): string {
    const value = valueIn(cookies);
    if (value !== undefined && this.isGood(cookies)) this.left.add(value);
    return `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
  }

  /** Does the `Cookie` header hold a good one? */
  isGood(cookies: string | undefined): boolean {
    return this.holderOf(cookies) !== undefined;
  }

  /** Whose the good one in the `Cookie` header is: a principal's id, or the owner's. */
  holderOf(cookies: string | undefined): string | undefined {
    const value = valueIn(cookies);
    const [, signed = '', signature = ''] = SIGNED.exec(value ?? '') ?? [];
    if (value === undefined || signed === '' || this.left.has(value)) return undefined;
    if (!equal(signature, this.sign(signed)) || Number.parseInt(signed, 10) <= Date.now()) return undefined;
    const [, , id] = signed.split('.');
    return id === undefined ? 'owner' : Buffer.from(id, 'base64url').toString('utf8');
  }

  private cookieFor(principalId: string | undefined): string {
    const whose = principalId === undefined ? '' : `.${Buffer.from(principalId).toString('base64url')}`;
    const value = `${Date.now() + COOKIE_MS}.${randomBytes(12).toString('base64url')}${whose}`;
    return `${COOKIE}=${value}.${this.sign(value)}; ${ATTRIBUTES}; Max-Age=${COOKIE_MS / 1000}`;
  }

  private isToken(given: string): boolean {
    return equal(given, this.token);
  }

  private sign(text: string): string {
    return createHmac('sha256', this.token).update(`login ${text}`).digest('base64url');
  }
}

/** When it ends, what makes it the only one of its kind, whose it is if not the owner's; and the signature. */
const SIGNED = /^(\d{13}\.[\w-]{16}(?:\.[\w-]+)?)\.([\w-]{43})$/;
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

function valueIn(cookies = ''): string | undefined {
  for (const part of cookies.split(';')) {
    const [name, value] = part.trim().split('=', 2);
    if (name === COOKIE) return value;
  }
  return undefined;
}

function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
