import type { AccessTokens } from './auth/access-tokens.js';
import { OAuthRights } from './auth/oauth-rights.js';
import type { OidcLogin } from './auth/oidc-login.js';
import type { Principal } from './auth/principal.js';
import { ProtectedResource } from './auth/protected-resource.js';
import type { Settings } from './settings.js';
import type { KeyRights } from './store/key-store.js';

/** Whom login services let in, besides the owner and the holders of keys. */
export interface People {
  accessTokens: AccessTokens | undefined;
  resource: ProtectedResource | undefined;
  login: OidcLogin | undefined;
  /** Whose a page is that a cookie let in; undefined for one whom nobody vouches for any more. */
  pageOf(id: string): Principal | undefined;
  /** Undefined: everything, or it is none of these people. */
  rightsOf(principalId: string): KeyRights | undefined;
}

const OWNER_PAGE: Principal = { id: 'owner', isAdmin: true, isPage: true };

/** By the settings: with the tokens of which login services people come in, and as what. `port` is known once it listens. */
export async function letPeopleIn(
  { oauth, publicUrl, loginTimeoutMs: timeoutMs }: Settings,
  port: () => number,
): Promise<People> {
  const nobody: People = {
    accessTokens: undefined,
    resource: undefined,
    login: undefined,
    pageOf: (id) => (id === 'owner' ? OWNER_PAGE : undefined),
    rightsOf: () => undefined,
  };
  if (!oauth) return nobody;
  const { issuers, audience, scopes, claim, admins, client } = oauth;
  const rights = new OAuthRights(scopes, admins, claim);
  const [usual, all] = [rights.names('usual'), rights.names('all')];
  const resource = new ProtectedResource({
    issuers,
    audience,
    scopes: usual,
    allScopes: all,
    publicUrl,
    port,
  });
  // Their libraries are loaded only where somebody comes in so.
  const { AccessTokens } = await import('./auth/access-tokens.js');
  const accessTokens = new AccessTokens({
    issuers,
    audiences: () => resource.audiences(),
    claim,
    rights,
    timeoutMs,
  });
  const [issuer = ''] = issuers;
  const login = client && {
    ...{
      issuer,
      clientId: client.id,
      clientSecret: client.secret,
      scope: client.scope,
      claim,
      rights,
      timeoutMs,
    },
    publicUrl: () => publicUrl || `http://127.0.0.1:${port()}`,
  };
  return {
    accessTokens,
    resource,
    login: login && new (await import('./auth/oidc-login.js')).OidcLogin(login),
    pageOf: (id) => {
      if (!rights.isOurs(id)) return nobody.pageOf(id);
      const { scopes: granted = [], ...principal } = rights.named(id);
      return granted.length > 0 ? { ...principal, isPage: true } : undefined;
    },
    rightsOf: (id) => (rights.isOurs(id) ? rights.rightsOf(id) : undefined),
  };
}
