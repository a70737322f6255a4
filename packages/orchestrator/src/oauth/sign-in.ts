import { randomBytes } from 'node:crypto';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import {
  auth,
  type OAuthClientInformationContext,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { OAuthEntry } from '../config/server-entry.js';
import type { AccountRecord } from './account-record.js';
import { ourselves } from './client-document.js';
import { loginFailure } from './login-failure.js';
import type { Fetch } from './login-fetch.js';

export interface SignInOptions {
  server: string;
  url: string;
  oauth: OAuthEntry;
  /** Where the login service sends the browser back to. */
  redirectUrl: string;
  /** Our client metadata document, where others can read it (https). */
  clientMetadataUrl?: string | undefined;
  /** What is kept of this account. */
  record: AccountRecord;
  scope?: string | undefined;
  fetch: Fetch;
}

/** One sign-in of one person at one server's login service, from the address that a browser goes to until the tokens. */
export class SignIn {
  readonly state = randomBytes(32).toString('base64url');
  private readonly provider: Provider;

  constructor(private readonly options: SignInOptions) {
    this.provider = new Provider(options, this.state);
  }

  /** Where the browser has to go. @throws CONFIG_INVALID when a client id is needed, and what went wrong else */
  async begin(): Promise<URL> {
    await this.run({ scope: this.options.scope, forceReauthorization: true });
    const { address, discovery } = this.provider;
    if (!address || !/^https?:$/.test(address.protocol))
      throw this.refusal(`names ${JSON.stringify(address?.protocol ?? '')} as the page to sign in at.`);
    const methods = discovery?.authorizationServerMetadata?.code_challenge_methods_supported;
    if (discovery?.authorizationServerMetadata && !methods?.includes('S256'))
      throw this.refusal('does not say that it protects codes (PKCE with S256), as it must.');
    return address;
  }

  /** What to keep, for the code that the browser brought. `iss`: of the same answer (RFC 9207). */
  async finish(code: string, iss: string | undefined): Promise<AccountRecord> {
    await this.run({
      authorizationCode: code,
      ...(iss === undefined ? {} : { iss }),
      scope: this.options.scope,
    });
    return this.provider.kept();
  }

  private async run(step: Partial<Parameters<typeof auth>[1]>): Promise<void> {
    const { server, url, record, fetch } = this.options;
    const metadataUrl = record.wanted?.resourceMetadataUrl;
    try {
      await auth(this.provider, {
        serverUrl: url,
        fetchFn: fetch,
        ...(metadataUrl === undefined ? {} : { resourceMetadataUrl: new URL(metadataUrl) }),
        ...step,
      });
    } catch (error) {
      throw loginFailure(server, error);
    }
  }

  private refusal(what: string): AppError {
    return new AppError('PROVIDER_ERROR', `The login service of server "${this.options.server}" ${what}`);
  }
}

class Provider implements OAuthClientProvider {
  address: URL | undefined;
  discovery: OAuthDiscoveryState | undefined;
  private client: StoredOAuthClientInformation | undefined;
  private verifier = '';
  private resource: string | undefined;
  private tokenSet: StoredOAuthTokens | undefined;

  constructor(
    private readonly options: SignInOptions,
    private readonly stateText: string,
  ) {
    this.client = registered(options);
  }

  get redirectUrl(): string {
    return this.options.redirectUrl;
  }

  get clientMetadataUrl(): string {
    return this.options.oauth.clientMetadataUrl ?? this.options.clientMetadataUrl ?? '';
  }

  get clientMetadata(): OAuthClientMetadata {
    const { scope } = this.options.oauth;
    return { ...ourselves([this.redirectUrl]), ...(scope === undefined ? {} : { scope }) };
  }

  state(): string {
    return this.stateText;
  }

  clientInformation({ issuer }: Partial<OAuthClientInformationContext> = {}) {
    const { client } = this;
    if (client?.issuer === undefined || client.issuer === issuer) return client;
    // One of our own making is made anew there; one that the operator gave is for its login service alone.
    if (this.options.oauth.clientId !== undefined) throw foreignIssuer(this.options.server, client.issuer);
    return undefined;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.client = client;
  }

  /** Never the old ones: somebody wants to sign in. */
  tokens(): undefined {
    return undefined;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.tokenSet = tokens;
  }

  redirectToAuthorization(address: URL): void {
    this.address = address;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): void {
    this.discovery = discovery;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovery;
  }

  saveResourceUrl(resource: string | URL): void {
    this.resource = String(resource);
  }

  invalidateCredentials(what: string): void {
    // An id that the operator gave stays; one that the service gave and forgot is asked for anew.
    if (what === 'client' && this.options.oauth.clientId === undefined) this.client = undefined;
  }

  kept(): AccountRecord {
    const { client, discovery, resource, tokenSet } = this;
    const { scope } = this.options;
    return {
      ...(client && this.options.oauth.clientId === undefined ? { client: { ...client } } : {}),
      ...(discovery ? { discovery: { ...discovery } } : {}),
      ...(resource === undefined ? {} : { resource }),
      ...(tokenSet ? { tokens: { ...(scope ? { scope } : {}), ...tokenSet, obtained_at: Date.now() } } : {}),
    };
  }
}

export function foreignIssuer(server: string, issuer: string): AppError {
  const sentence = `The client id of server "${server}" belongs to ${issuer}, and the server has another login service; nothing was sent there.`;
  return new AppError('PROVIDER_ERROR', sentence);
}

/** As which client we are known there: by the entry, else by an earlier registration for that way back and these scopes. */
export function registered({
  oauth: { clientId, clientSecret, issuer },
  record: { client },
  redirectUrl,
  scope,
}: Pick<SignInOptions, 'oauth' | 'record' | 'scope'> & { redirectUrl?: string }):
  | StoredOAuthClientInformation
  | undefined {
  if (clientId !== undefined) {
    return {
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...(issuer === undefined ? {} : { issuer }),
    };
  }
  if (!isClient(client)) return undefined;
  const { redirect_uris: ways, scope: allowed }: JsonObject = client;
  const leadsBack = redirectUrl === undefined || !Array.isArray(ways) || ways.includes(redirectUrl);
  const may = typeof allowed === 'string' ? allowed.split(' ') : undefined;
  const isEnough = !may || (scope ?? '').split(' ').every((one) => one === '' || may.includes(one));
  return leadsBack && isEnough ? client : undefined;
}

/** What the SDK sends of it. */
function isClient(kept: unknown): kept is StoredOAuthClientInformation & JsonObject {
  if (!isObject(kept) || typeof kept.client_id !== 'string') return false;
  return [kept.client_secret, kept.issuer].every((text) => text === undefined || typeof text === 'string');
}
