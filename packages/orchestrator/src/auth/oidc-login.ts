import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { scopesIn } from './access-tokens.js';
import type { OAuthRights } from './oauth-rights.js';
import type { Principal } from './principal.js';

const LIFE_MS = 10 * 60_000;
const MAX_PENDING = 200;
/** Of the browser that began; Lax, since it comes back from elsewhere. */
const BEGUN_COOKIE = 'mcpbridge_begun';

interface OidcLoginOptions {
  issuer: string;
  clientId: string;
  clientSecret?: string | undefined;
  scope: string;
  claim?: string | undefined;
  rights: OAuthRights;
  timeoutMs: number;
  publicUrl(): string;
}

interface Pending {
  verifier: string;
  nonce: string;
  until: number;
}

/** Lets people into the dashboard whom an OpenID Connect provider knows. */
export class OidcLogin {
  private readonly pending = new Map<string, Pending>();
  private configuration: Promise<Configuration> | undefined;

  constructor(private readonly options: OidcLoginOptions) {}

  /** Where the browser has to go, and the cookie that it comes back with. @throws SIGN_IN_UNAVAILABLE */
  async begin(): Promise<{ location: string; cookie: string }> {
    const configuration = await this.provider();
    const [verifier, nonce, state] = [randomPKCECodeVerifier(), randomNonce(), randomState()];
    this.pending.set(state, { verifier, nonce, until: Date.now() + LIFE_MS });
    const [oldest] = this.pending.keys();
    if (this.pending.size > MAX_PENDING && oldest !== undefined) this.pending.delete(oldest);
    const location = buildAuthorizationUrl(configuration, {
      redirect_uri: this.redirectUri,
      scope: this.options.scope,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      nonce,
      state,
    });
    return {
      location: location.href,
      cookie: `${BEGUN_COOKIE}=${state}; Path=/login/oidc; HttpOnly; SameSite=Lax; Max-Age=${LIFE_MS / 1000}`,
    };
  }

  /** Who came back. @throws UNAUTHORIZED, INSUFFICIENT_SCOPE for somebody who may do nothing here, SIGN_IN_UNAVAILABLE */
  async finish(query: URLSearchParams, cookies = ''): Promise<Principal> {
    const state = query.get('state') ?? '';
    const pending = this.pending.get(state);
    const begun = cookies.split(';').some((part) => part.trim() === `${BEGUN_COOKIE}=${state}`);
    this.pending.delete(state);
    if (!pending || !begun || pending.until < Date.now())
      throw new AppError(
        'UNAUTHORIZED',
        'This browser did not begin this login, or it took too long: begin again.',
      );
    const { rights, claim, issuer } = this.options;
    const tokens = await this.redeem(query, pending, state);
    const claims = tokens.claims();
    const principal = rights.principalOf({
      issuer,
      subject: claims?.sub ?? '',
      email: claims?.email_verified === false || typeof claims?.email !== 'string' ? undefined : claims.email,
      scopes: [...(tokens.scope?.split(' ') ?? []), ...scopesIn({ ...claims }, claim)],
    });
    if (claims && principal) return principal;
    throw new AppError(
      'INSUFFICIENT_SCOPE',
      'The login service knows you, but you may do nothing here: see OAUTH_ADMINS and OAUTH_SCOPES.',
    );
  }

  private async redeem(query: URLSearchParams, { verifier, nonce }: Pending, state: string) {
    const configuration = await this.provider();
    const address = new URL(this.redirectUri);
    address.search = query.toString();
    try {
      return await authorizationCodeGrant(configuration, address, {
        pkceCodeVerifier: verifier,
        expectedNonce: nonce,
        expectedState: state,
        idTokenExpected: true,
      });
    } catch (cause) {
      throw new AppError(
        'UNAUTHORIZED',
        'The login service did not let you in, or its answer does not hold.',
        { cause },
      );
    }
  }

  private get redirectUri(): string {
    return `${this.options.publicUrl()}/login/oidc/callback`;
  }

  private provider(): Promise<Configuration> {
    this.configuration ??= this.discover().catch((cause) => {
      this.configuration = undefined;
      const sentence = `The login service ${this.options.issuer} cannot be asked (${messageOf(cause)}).`;
      throw new AppError('SIGN_IN_UNAVAILABLE', sentence, { cause });
    });
    return this.configuration;
  }

  private async discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, timeoutMs } = this.options;
    const address = new URL(issuer);
    // Without encryption only on this machine.
    const isLocal =
      address.protocol === 'http:' && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(address.hostname);
    const configuration = await discovery(address, clientId, clientSecret, undefined, {
      timeout: timeoutMs / 1000,
      ...(isLocal ? { execute: [allowInsecureRequests] } : {}),
      [customFetch]: (url, init) => fetch(url, init as RequestInit),
    });
    return configuration;
  }
}
