import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import {
  auth,
  ClientCredentialsProvider,
  discoverOAuthServerInfo,
  PrivateKeyJwtProvider,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import type { OAuthEntry } from '../config/server-entry.js';
import type { Challenge } from '../providers/mcp/credentials.js';
import type { AccountRecord, Tokens } from './account-record.js';
import { loginFailure } from './login-failure.js';
import type { Fetch } from './login-fetch.js';
import { foreignIssuer, registered } from './sign-in.js';

type Found = Awaited<ReturnType<typeof discoverOAuthServerInfo>>;

interface RenewalOptions {
  server: string;
  url: string;
  oauth: OAuthEntry;
  record: AccountRecord;
  challenge?: Challenge | undefined;
  fetch: Fetch;
}

/**
 * New tokens for a refresh token, from the login service that issued it and no other.
 * @throws SIGN_IN_NEEDED when only a person can help, SIGN_IN_UNAVAILABLE when it may work later
 */
export async function refresh(options: RenewalOptions): Promise<AccountRecord> {
  const { server, record, fetch } = options;
  const { tokens } = record;
  try {
    const found = await discovered(options);
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = found;
    const issuer = metadata?.issuer ?? authorizationServerUrl;
    if (tokens?.issuer !== undefined && tokens.issuer !== issuer)
      throw signInAgain(server, 'it has another login service than before');
    const client = registered(options);
    if (!client || tokens?.refresh_token === undefined)
      throw signInAgain(server, 'nothing here can renew its tokens');
    if (client.issuer !== undefined && client.issuer !== issuer) throw foreignIssuer(server, client.issuer);
    const fresh = await refreshAuthorization(authorizationServerUrl, {
      ...(metadata ? { metadata } : {}),
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      ...(record.resource === undefined ? {} : { resource: new URL(record.resource) }),
      fetchFn: fetch,
    });
    const kept: Tokens = { ...fresh, issuer, obtained_at: Date.now() };
    // An answer without a scope grants the same one as before (RFC 6749, 6).
    if (kept.scope === undefined && tokens.scope !== undefined) kept.scope = tokens.scope;
    return { ...record, tokens: kept, discovery: { ...found } };
  } catch (error) {
    throw loginFailure(server, error);
  }
}

/** Tokens of a machine's own: its id and secret, or its key, are all that it takes. */
export async function clientCredentials(
  options: RenewalOptions,
  scope: string | undefined,
): Promise<AccountRecord> {
  const { server, url, oauth, record, challenge, fetch } = options;
  const wanted = scope ?? oauth.scope;
  const named = {
    clientId: oauth.clientId ?? '',
    clientName: 'mcpbridge',
    ...(oauth.issuer === undefined ? {} : { expectedIssuer: oauth.issuer }),
    ...(wanted === undefined ? {} : { scope: wanted }),
  };
  const provider = oauth.privateKey
    ? new PrivateKeyJwtProvider({
        ...named,
        privateKey: oauth.privateKey,
        algorithm: oauth.algorithm ?? 'ES256',
      })
    : new ClientCredentialsProvider({ ...named, clientSecret: oauth.clientSecret ?? '' });
  try {
    await auth(provider, {
      serverUrl: url,
      fetchFn: fetch,
      ...(challenge?.resourceMetadataUrl
        ? { resourceMetadataUrl: new URL(challenge.resourceMetadataUrl) }
        : {}),
      ...(wanted === undefined ? {} : { scope: wanted }),
    });
    const tokens = provider.tokens();
    if (!tokens) throw new Error('no tokens came');
    const scoped = wanted === undefined ? {} : { scope: wanted };
    const kept: Tokens = { ...scoped, ...tokens, obtained_at: Date.now() };
    return { ...record, tokens: kept };
  } catch (error) {
    throw loginFailure(server, error);
  }
}

/** A server that refused us may have another login service by now, so then it is asked anew. */
async function discovered({ url, record, challenge, fetch }: RenewalOptions): Promise<Found> {
  if (!challenge && isFound(record.discovery)) return record.discovery;
  const address = challenge?.resourceMetadataUrl ?? record.wanted?.resourceMetadataUrl;
  return discoverOAuthServerInfo(url, {
    ...(address === undefined ? {} : { resourceMetadataUrl: new URL(address) }),
    fetchFn: fetch,
  });
}

/** What a renewal uses of it; else it is found out anew. */
function isFound(kept: unknown): kept is Found {
  if (!isObject(kept) || typeof kept.authorizationServerUrl !== 'string') return false;
  const { authorizationServerMetadata: metadata } = kept;
  if (metadata === undefined) return true;
  return (
    isObject(metadata) && typeof metadata.issuer === 'string' && typeof metadata.token_endpoint === 'string'
  );
}

function signInAgain(server: string, why: string): AppError {
  return new AppError('SIGN_IN_NEEDED', `Server "${server}": ${why}; sign in again.`, {
    details: { server },
  });
}
