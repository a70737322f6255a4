import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { createRemoteJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';
import type { OAuthRights } from './oauth-rights.js';
import type { Principal } from './principal.js';

/** Two clocks of people who care for them differ by less. */
const TOLERANCE_S = 30;
const MAX_KNOWN = 10_000;
/** None that anybody could make with a public key, or without one. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

type KeySet = ReturnType<typeof createRemoteJWKSet>;

interface AccessTokenOptions {
  issuers: readonly string[];
  /** Who tokens have to be for: our own addresses. */
  audiences(): readonly string[];
  /** Besides the scopes: a claim whose values count as `claim:value`. */
  claim?: string | undefined;
  rights: OAuthRights;
  /** Milliseconds that a login service has for an answer. */
  timeoutMs: number;
}

/** Tokens of login services (RFC 9068), each checked once and then known until its end. */
export class AccessTokens {
  private readonly known = new Map<string, { principal: Principal; until: number }>();
  private readonly keySets = new Map<string, Promise<KeySet>>();

  constructor(private readonly options: AccessTokenOptions) {}

  /** Could it be one that was not seen yet? */
  isNew(token: string): boolean {
    return token.startsWith('eyJ') && this.find(token) === undefined;
  }

  /** The principal of a token that was checked and has not ended. */
  find(token: string): Principal | undefined {
    const known = this.known.get(token);
    if (known && known.until > Date.now()) return known.principal;
    if (known) this.known.delete(token);
    return undefined;
  }

  /** @throws UNAUTHORIZED with what is wrong with it, INSUFFICIENT_SCOPE, SIGN_IN_UNAVAILABLE when the service cannot be asked */
  async check(token: string): Promise<Principal> {
    const issuer = this.issuerOf(token);
    const payload = await this.verified(token, issuer);
    const principal = this.options.rights.principalOf({
      issuer,
      subject: String(payload.sub ?? payload.client_id ?? ''),
      email:
        payload.email_verified === false || typeof payload.email !== 'string' ? undefined : payload.email,
      scopes: scopesIn(payload, this.options.claim),
    });
    if (!principal) {
      const sentence = `The token has none of the scopes that give something here: ${this.options.rights.names('all').join(', ')}.`;
      throw new AppError('INSUFFICIENT_SCOPE', sentence);
    }
    this.remember(token, principal, (payload.exp ?? 0) * 1000);
    return principal;
  }

  private issuerOf(token: string): string {
    let issuer: unknown;
    try {
      issuer = decodeJwt(token).iss;
    } catch {
      throw invalid('it is no JSON web token');
    }
    const found = this.options.issuers.find((known) => known === issuer);
    if (found !== undefined) return found;
    throw invalid('its issuer is not one that is trusted here');
  }

  private async verified(token: string, issuer: string): Promise<JWTPayload> {
    const keys = await this.keysOf(issuer);
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: [...this.options.audiences()],
        algorithms: ALGORITHMS,
        clockTolerance: TOLERANCE_S,
        requiredClaims: ['exp'],
      });
      const ahead = (payload.iat ?? 0) - Date.now() / 1000;
      if (ahead > TOLERANCE_S)
        throw invalid(
          `it was issued ${Math.round(ahead)} s from now: the clocks of the login service and of this machine differ`,
        );
      return payload;
    } catch (error) {
      throw this.explained(error, issuer);
    }
  }

  private explained(thrown: unknown, issuer: string): AppError {
    if (thrown instanceof AppError) return thrown;
    if (thrown instanceof errors.JWTExpired) {
      const ago = Math.round(Date.now() / 1000 - (thrown.payload.exp ?? 0));
      return invalid(`it ended ${ago} s ago`);
    }
    if (thrown instanceof errors.JWTClaimValidationFailed) {
      if (thrown.claim === 'aud')
        return invalid(`it is meant for another address than ${this.options.audiences()[0]}`);
      if (thrown.claim === 'nbf')
        return invalid('it is not good yet: the clocks of the login service and of this machine differ');
      return invalid(`its claim "${thrown.claim}" does not fit`);
    }
    if (thrown instanceof errors.JWKSNoMatchingKey || thrown instanceof errors.JWSSignatureVerificationFailed)
      return invalid('its signature is not that of its issuer');
    if (
      thrown instanceof errors.JOSEAlgNotAllowed ||
      thrown instanceof errors.JWSInvalid ||
      thrown instanceof errors.JWTInvalid
    )
      return invalid('it is not made as tokens are here');
    return unavailable(issuer, thrown);
  }

  /** Found out once; a failure is forgotten, so that the next token tries again. */
  private keysOf(issuer: string): Promise<KeySet> {
    let keys = this.keySets.get(issuer);
    if (!keys) {
      keys = this.discover(issuer).catch((error) => {
        this.keySets.delete(issuer);
        throw error instanceof AppError ? error : unavailable(issuer, error);
      });
      this.keySets.set(issuer, keys);
    }
    return keys;
  }

  private async discover(issuer: string): Promise<KeySet> {
    const { timeoutMs } = this.options;
    const base = issuer.replace(/\/$/, '');
    const { origin, pathname } = new URL(issuer);
    const places = [
      `${base}/.well-known/openid-configuration`,
      `${origin}/.well-known/oauth-authorization-server${pathname === '/' ? '' : pathname}`,
    ];
    for (const place of places) {
      const response = await fetch(place, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
      const metadata: unknown = response.ok ? await response.json() : undefined;
      if (!isObject(metadata)) continue;
      if (metadata.issuer !== issuer || typeof metadata.jwks_uri !== 'string')
        throw new AppError(
          'SIGN_IN_UNAVAILABLE',
          `The login service ${issuer} does not say that it is the one that was asked.`,
        );
      return createRemoteJWKSet(new URL(metadata.jwks_uri), { timeoutDuration: timeoutMs });
    }
    throw new Error('it has no metadata');
  }

  private remember(token: string, principal: Principal, until: number): void {
    this.known.set(token, { principal, until });
    const [oldest] = this.known.keys();
    if (this.known.size > MAX_KNOWN && oldest !== undefined) this.known.delete(oldest);
  }
}

/** `scope` as RFC 9068 has it, `scp` as others do, and the values of `claim` as `claim:value`. */
export function scopesIn(claims: JsonObject | JWTPayload, claim: string | undefined): string[] {
  const ofClaim = claim === undefined ? [] : textsIn(claims[claim]).map((value) => `${claim}:${value}`);
  return [...textsIn(claims.scope), ...textsIn(claims.scp), ...ofClaim];
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.split(' ');
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function invalid(why: string): AppError {
  return new AppError('UNAUTHORIZED', `The token is not valid here: ${why}.`);
}

function unavailable(issuer: string, cause: unknown): AppError {
  const isLate =
    cause instanceof errors.JWKSTimeout || (cause instanceof Error && cause.name === 'TimeoutError');
  const what = isLate ? 'did not answer in time' : `cannot be asked (${messageOf(cause)})`;
  return new AppError(
    'SIGN_IN_UNAVAILABLE',
    `The token could not be checked: the login service ${issuer} ${what}.`,
    { cause },
  );
}
