import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { nearestHint } from '@mcpbridge/shared/tool-names.js';
import type { HttpTransportEntry, OAuthEntry, ServerEntry } from '../config/server-entry.js';
import type { Credentials } from '../providers/mcp/credentials.js';
import { Account, type AccountState } from './account.js';
import { type Fetch, loginFetch } from './login-fetch.js';
import { PendingSignIns } from './pending-sign-ins.js';
import { type Seal, TokenFile } from './token-file.js';

/** Of a server that says nothing of it: it may still ask for a sign-in. */
const AS_ASKED: OAuthEntry = { per: 'server', grant: 'authorization_code' };
/** Whose account lists the tools where each principal has one. */
const OWNER = 'owner';

interface AccountsOptions {
  home: string;
  seal: Seal;
  /** Milliseconds that each answer of one may take. */
  timeoutMs: number;
  /** Where browsers reach us, without a path. */
  publicUrl(): string;
  entryOf(server: string): ServerEntry | undefined;
  servers(): Iterable<string>;
  /** Hears of the tokens of an account before they are used. */
  learn(account: string, secrets: string[]): void;
  /** Other credentials from now on, for that principal or (undefined) for all. */
  onSignedIn(server: string, owner: string | undefined): void;
  onSignedOut(server: string, owner: string | undefined): void;
}

export interface AccountStatus extends AccountState {
  server: string;
  per: OAuthEntry['per'];
  grant: OAuthEntry['grant'];
}

/** All accounts at upstream servers: whose credentials a connection carries, and the sign-ins under way. */
export class Accounts {
  private readonly accounts = new Map<string, { account: Account; fetch: Fetch; entry: string }>();
  /** By server, whose account was used where each has one. */
  private readonly latest = new Map<string, string>();
  private readonly pending = new PendingSignIns();

  constructor(private readonly options: AccountsOptions) {}

  /** What a connection carries; undefined where nobody signs in: no HTTP, or a key of the entry's own. */
  credentialsOf(entry: ServerEntry, owner: string | undefined): Credentials | undefined {
    const found = this.account(entry, owner ?? OWNER);
    if (!found || found.oauth.per === 'server') return found?.account;
    if (owner !== undefined) return this.remembering(entry.id, owner, found.account);
    // Lists are read with the owner's account, or with the latest one that was used.
    return new Deputy(
      () => this.account(entry, this.latest.get(entry.id) ?? OWNER)?.account ?? found.account,
    );
  }

  /** Of one server for one principal; undefined where nobody signs in. @throws UNKNOWN_SERVER */
  async status(server: string, principal: string): Promise<AccountStatus | undefined> {
    const found = this.account(this.entry(server), principal);
    if (!found) return undefined;
    const { per, grant } = found.oauth;
    return { server, per, grant, ...(await found.account.state()) };
  }

  async allStatus(principal: string): Promise<AccountStatus[]> {
    const all = [...this.options.servers()].filter((id) => this.options.entryOf(id));
    const found = await Promise.all(all.map((id) => this.status(id, principal)));
    return found.filter((status) => status !== undefined);
  }

  /**
   * The address that a browser has to be sent to. @throws UNKNOWN_SERVER, INVALID_REQUEST where nobody signs in,
   * CONFIG_INVALID when the login service wants a client id from us, SIGN_IN_UNAVAILABLE, PROVIDER_ERROR
   */
  async start(
    server: string,
    principal: string,
    isOpen: boolean,
    scope?: string,
  ): Promise<{ url: string; state: string }> {
    const { account, entry, transport, oauth, fetch } = this.known(server, principal);
    if (oauth.grant === 'client_credentials')
      throw new AppError(
        'INVALID_REQUEST',
        `Server "${server}" is signed in to by this machine itself; nobody else needs to.`,
      );
    const { SignIn } = await import('./sign-in.js');
    const record = await account.current();
    const base = this.options.publicUrl();
    const signIn = new SignIn({
      server,
      url: transport.url,
      oauth,
      redirectUrl: oauth.redirectUri ?? `${base}/api/oauth/callback`,
      ...(base.startsWith('https:') ? { clientMetadataUrl: `${base}/api/oauth/client.json` } : {}),
      record,
      scope: scope ?? record.wanted?.scope ?? oauth.scope,
      fetch,
    });
    const url = await signIn.begin();
    this.pending.add({ signIn, server, principal, isOpen, account, entry: JSON.stringify(entry) });
    return { url: url.href, state: signIn.state };
  }

  /** What the browser came back with. `by`: who brought it, if that is known. Answers the server. */
  async finish(answer: URLSearchParams, by: string | undefined): Promise<string> {
    const { signIn, server, principal, account, entry } = this.pending.take(answer.get('state') ?? '', by);
    if (JSON.stringify(this.options.entryOf(server)) !== entry)
      throw new AppError(
        'INVALID_REQUEST',
        `Server "${server}" was changed during the sign-in; sign in again.`,
      );
    const refusal = answer.get('error');
    if (refusal !== null)
      throw new AppError(
        'SIGN_IN_NEEDED',
        `The login service of server "${server}" let nobody in (${plain(refusal)}).`,
      );
    const code = answer.get('code');
    if (!code)
      throw new AppError('INVALID_REQUEST', 'The address has no "code": copy the whole address of the page.');
    await account.signedIn(await signIn.finish(code, answer.get('iss') ?? undefined));
    const owner = this.ownerIn(server, principal);
    if (owner !== undefined && (owner === OWNER || !this.latest.has(server))) this.latest.set(server, owner);
    this.options.onSignedIn(server, owner);
    return server;
  }

  /** Takes the tokens back, at the login service too where it has a way for that. */
  async logout(server: string, principal: string): Promise<void> {
    const { account, oauth, fetch } = this.known(server, principal);
    const before = await account.forget();
    if (this.latest.get(server) === principal) this.latest.delete(server);
    this.options.onSignedOut(server, this.ownerIn(server, principal));
    const { revoke } = await import('./revocation.js');
    await revoke(before, oauth, fetch).catch(() => undefined); // they are gone here
  }

  /** Says who could list the tools, should nobody have done so yet. */
  private remembering(server: string, owner: string, account: Account): Credentials {
    const note = () => {
      if (owner === OWNER || !this.latest.has(server)) this.latest.set(server, owner);
    };
    return {
      async token() {
        const token = await account.token();
        if (token !== undefined) note();
        return token;
      },
      refused: (...refusal) => account.refused(...refusal),
      insufficient: (...refusal) => account.insufficient(...refusal),
    };
  }

  private ownerIn(server: string, principal: string): string | undefined {
    return this.known(server, principal).oauth.per === 'principal' ? principal : undefined;
  }

  private known(server: string, principal: string) {
    const entry = this.entry(server);
    const found = this.account(entry, principal);
    if (!found)
      throw new AppError(
        'INVALID_REQUEST',
        `At server "${server}" nobody signs in: it is no HTTP server, or its headers hold its key.`,
      );
    return { ...found, entry };
  }

  private entry(server: string): ServerEntry {
    const entry = this.options.entryOf(server);
    if (entry) return entry;
    const hint = nearestHint(server, this.options.servers());
    throw new AppError('UNKNOWN_SERVER', `There is no server "${server}".${hint}`);
  }

  private account(
    entry: ServerEntry,
    principal: string,
  ): { account: Account; fetch: Fetch; oauth: OAuthEntry; transport: HttpTransportEntry } | undefined {
    const { id, transport } = entry;
    if (transport.kind !== 'http' && transport.kind !== 'sse') return undefined;
    if (
      !transport.oauth &&
      Object.keys(transport.headers).some((name) => name.toLowerCase() === 'authorization')
    )
      return undefined;
    const oauth = transport.oauth ?? AS_ASKED;
    const owner = oauth.per === 'principal' ? subjectOf(principal) : '';
    const key = JSON.stringify([id, owner]);
    const text = JSON.stringify(transport);
    let known = this.accounts.get(key);
    if (known?.entry !== text) {
      known = { ...this.create(entry.id, transport, oauth, owner), entry: text };
      this.accounts.set(key, known);
    }
    return { account: known.account, fetch: known.fetch, oauth, transport };
  }

  private create(server: string, transport: HttpTransportEntry, oauth: OAuthEntry, owner: string) {
    const { home, seal, learn, timeoutMs } = this.options;
    const { url, allowPrivate } = transport;
    const fetch = loginFetch({ server, url, allowPrivate }, timeoutMs);
    const path = fileOf(home, server, oauth, owner);
    const account = new Account({
      ...{ server, url, oauth, fetch },
      learn: (secrets) => learn(path, secrets),
      file: new TokenFile(path, url, seal),
    });
    return { account, fetch };
  }
}

/** Carries what somebody else does, chosen anew for each request. */
class Deputy implements Credentials {
  constructor(private readonly chosen: () => Credentials) {}

  token(): Promise<string | undefined> {
    return this.chosen().token();
  }

  refused(...refusal: Parameters<Credentials['refused']>): Promise<void> {
    return this.chosen().refused(...refusal);
  }

  insufficient(...refusal: Parameters<Credentials['insufficient']>): Promise<void> {
    return this.chosen().insufficient(...refusal);
  }
}

/** Who somebody is, whatever a token of theirs may do: their accounts are theirs with each of their tokens. */
export function subjectOf(principal: string): string {
  return principal.split('#')[0] ?? principal;
}

function fileOf(home: string, server: string, { tokenFile }: OAuthEntry, owner: string): string {
  const whose = owner === '' ? '' : `.${createHash('sha256').update(owner).digest('hex').slice(0, 16)}`;
  if (tokenFile !== undefined)
    return whose === '' ? tokenFile : `${tokenFile.replace(/\.json$/, '')}${whose}.json`;
  // Names of servers may differ in what a file system does not tell apart.
  const name = `${server.replaceAll(/[^A-Za-z0-9_-]/g, '_')}-${createHash('sha256').update(server).digest('hex').slice(0, 8)}`;
  return join(home, 'oauth', `${name}${whose}.json`);
}

/** An error code as OAuth has them (RFC 6749, 4.1.2.1); whatever else stands there may be a stranger's words. */
function plain(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : 'no known reason';
}
