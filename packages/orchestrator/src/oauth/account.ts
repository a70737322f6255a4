import { AppError } from '@mcpbridge/shared/errors.js';
import type { OAuthEntry } from '../config/server-entry.js';
import type { Challenge, Credentials } from '../providers/mcp/credentials.js';
import { type AccountRecord, endOf, type Tokens } from './account-record.js';
import type { Fetch } from './login-fetch.js';
import type { TokenFile } from './token-file.js';

/** A token is renewed so long before its end, so that it does not end on its way. */
const EARLY_MS = 30_000;
/** What another process stored is noticed at the latest after this. */
const LOOK_MS = 1000;
/** Sign-ins for more rights, one after the other, that the server may ask for. */
const MAX_STEP_UPS = 3;
/** Failed renewals are not tried again at each call. */
const REST_MS = 2000;

export interface AccountOptions {
  server: string;
  url: string;
  oauth: OAuthEntry;
  file: TokenFile;
  fetch: Fetch;
  /** Hears of every secret that is about to be used. */
  learn(secrets: string[]): void;
}

export interface AccountState {
  state: 'signed_in' | 'needed' | 'unavailable' | 'unknown';
  reason?: string;
  scope?: string;
  issuer?: string;
  /** Milliseconds since the epoch. */
  expiresAt?: number;
}

/** Whose credentials a connection carries: one account at one server, kept in one file that several processes may use. */
export class Account implements Credentials {
  private record: AccountRecord = {};
  private readAt: number | undefined;
  private renewing: Promise<void> | undefined;
  /** Of the latest renewal that failed for a while. */
  private rest: { until: number; error: AppError } | undefined;

  constructor(private readonly options: AccountOptions) {}

  async token(): Promise<string | undefined> {
    const { tokens } = this.record;
    if (tokens && this.readAt !== undefined && isGood(tokens)) return tokens.access_token;
    return this.newToken();
  }

  async refused(token: string | undefined, challenge: Challenge): Promise<void> {
    await this.want(challenge);
    await this.renew(token, challenge);
  }

  async insufficient(token: string | undefined, challenge: Challenge): Promise<void> {
    const { server, oauth, file } = this.options;
    const before = await this.load(true);
    if (before.tokens && before.tokens.access_token !== token && isGood(before.tokens)) return;
    const scope = union(before.tokens?.scope, challenge.scope);
    // The same once more: what was signed in for did not help.
    const stepUps = scope === before.wanted?.scope ? (before.stepUps ?? 0) + 1 : 1;
    if (stepUps > MAX_STEP_UPS) {
      const sentence = `Server "${server}" asks for more rights (${words(challenge.scope)}) each time, and ${MAX_STEP_UPS} sign-ins did not help: whoever runs it, or its login service, has to give them.`;
      throw new AppError('SIGN_IN_NEEDED', sentence, { details: { server, scope, reason: 'step-up limit' } });
    }
    if (oauth.grant === 'client_credentials') {
      await this.keep(
        await file.change((record) => ({ ...record, stepUps, wanted: { ...record.wanted, scope } })),
      );
      await this.renew(token, challenge, scope);
      return;
    }
    const sentence = `Server "${server}" wants more rights for this (${words(challenge.scope)}): sign in again to give them.`;
    await this.keep(
      await file.change((record) => ({
        ...record,
        problem: sentence,
        stepUps,
        wanted: { ...record.wanted, ...defined({ ...challenge, scope }) },
      })),
    );
    throw needed(server, sentence, { scope });
  }

  async state(): Promise<AccountState> {
    const { tokens, problem } = await this.load(true);
    const known = {
      ...(tokens?.scope === undefined ? {} : { scope: tokens.scope }),
      ...(tokens?.issuer === undefined ? {} : { issuer: tokens.issuer }),
    };
    if (problem !== undefined) return { state: 'needed', reason: problem, ...known };
    if (this.rest && this.rest.until > Date.now())
      return { state: 'unavailable', reason: this.rest.error.message, ...known };
    if (!tokens) return { state: 'unknown' };
    const expiresAt = endOf(tokens);
    return { state: 'signed_in', ...known, ...(expiresAt === undefined ? {} : { expiresAt }) };
  }

  /** What a sign-in begins with. */
  current(): Promise<AccountRecord> {
    return this.load(true);
  }

  /** Of a sign-in that came to its end. */
  async signedIn(fresh: AccountRecord): Promise<void> {
    this.rest = undefined;
    await this.keep(
      await this.options.file.change(({ stepUps, wanted }) => ({
        ...fresh,
        // Whether it helped is for the server to say.
        ...(stepUps === undefined ? {} : { stepUps }),
        ...(wanted === undefined ? {} : { wanted }),
      })),
    );
  }

  async forget(): Promise<AccountRecord> {
    const before = await this.load(true);
    await this.options.file.remove();
    this.record = {};
    this.readAt = undefined;
    this.rest = undefined;
    return before;
  }

  private async newToken(): Promise<string | undefined> {
    const { server, oauth } = this.options;
    const { tokens, problem } = await this.load(false);
    if (tokens && isGood(tokens)) return tokens.access_token;
    if (problem !== undefined) throw needed(server, problem);
    if (!tokens && oauth.grant !== 'client_credentials') return undefined;
    if (tokens && tokens.refresh_token === undefined && oauth.grant !== 'client_credentials')
      // It may still be taken; if not, the server says so.
      return tokens.access_token;
    await this.renew(tokens?.access_token, undefined).catch((error) => {
      const mayPass = error instanceof AppError && error.code === 'SIGN_IN_UNAVAILABLE';
      if (!mayPass || !tokens || isOver(tokens)) throw error;
    });
    return this.record.tokens?.access_token;
  }

  /** One renewal at a time, among all processes of the machine too: who waited takes what the other got. */
  private renew(stale: string | undefined, challenge: Challenge | undefined, scope?: string): Promise<void> {
    if (this.rest && this.rest.until > Date.now() && scope === undefined)
      return Promise.reject(this.rest.error);
    this.renewing ??= this.renewLocked(stale, challenge, scope).finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private async renewLocked(
    stale: string | undefined,
    challenge: Challenge | undefined,
    scope: string | undefined,
  ): Promise<void> {
    const { server, oauth, file } = this.options;
    await file.locked(async () => {
      const record = await this.load(true);
      const { tokens } = record;
      if (tokens && tokens.access_token !== stale && isGood(tokens)) return;
      try {
        if (oauth.grant === 'client_credentials')
          await this.store(await this.byMachine(record, challenge, scope));
        else if (tokens?.refresh_token === undefined) throw needed(server, this.firstTime(tokens));
        else await this.store(await this.byRefresh(record, challenge));
      } catch (error) {
        await this.note(record, error);
        throw error;
      }
    });
  }

  private async byRefresh(record: AccountRecord, challenge: Challenge | undefined): Promise<AccountRecord> {
    // With the MCP SDK, which takes a quarter of a second to load.
    const { refresh } = await import('./renewal.js');
    return refresh({ ...this.options, record, challenge });
  }

  private async byMachine(
    record: AccountRecord,
    challenge: Challenge | undefined,
    scope: string | undefined,
  ): Promise<AccountRecord> {
    const { clientCredentials } = await import('./renewal.js');
    return clientCredentials(
      { ...this.options, record, challenge },
      scope ?? challenge?.scope ?? record.wanted?.scope,
    );
  }

  private firstTime(tokens: Tokens | undefined): string {
    const { server } = this.options;
    if (!tokens) return `Server "${server}" wants to know who you are: sign in.`;
    return `The sign-in at server "${server}" is over: sign in again.`;
  }

  private async note(record: AccountRecord, error: unknown): Promise<void> {
    if (!(error instanceof AppError)) return;
    if (error.code === 'SIGN_IN_NEEDED') {
      // The client stays registered, the tokens are worth nothing any more.
      const { tokens, ...rest } = record;
      await this.store({ ...rest, problem: error.message });
    } else this.rest = { until: Date.now() + REST_MS, error };
  }

  private async want(challenge: Challenge): Promise<void> {
    const { wanted } = await this.load(false);
    const next = { ...wanted, ...defined(challenge) };
    if (JSON.stringify(next) === JSON.stringify(wanted ?? {})) return;
    await this.keep(await this.options.file.change((record) => ({ ...record, wanted: next })));
  }

  private async store(record: AccountRecord): Promise<void> {
    await this.options.file.write(record);
    await this.keep(record);
  }

  private async keep(record: AccountRecord): Promise<void> {
    this.record = record;
    this.readAt = Date.now();
    this.options.learn(secretsOf(record));
  }

  private async load(anew: boolean): Promise<AccountRecord> {
    if (!anew && this.readAt !== undefined && Date.now() - this.readAt < LOOK_MS) return this.record;
    await this.keep(await this.options.file.read());
    return this.record;
  }
}

export function needed(server: string, sentence: string, more?: object): AppError {
  return new AppError('SIGN_IN_NEEDED', sentence, {
    details: { server, sign_in: { method: 'POST', path: '/api/oauth/start', body: { server } }, ...more },
  });
}

function isGood(tokens: Tokens): boolean {
  const end = endOf(tokens);
  const early = Math.min(EARLY_MS, ((tokens.expires_in ?? 0) * 1000) / 5);
  return end === undefined || end - early > Date.now();
}

function isOver(tokens: Tokens): boolean {
  return (endOf(tokens) ?? Number.POSITIVE_INFINITY) <= Date.now();
}

function union(...scopes: (string | undefined)[]): string {
  return [...new Set(scopes.flatMap((scope) => scope?.split(' ') ?? []).filter(Boolean))].join(' ');
}

function words(scope: string | undefined): string {
  return scope ? `"${scope}"` : 'it does not say which';
}

function defined(challenge: Challenge): { resourceMetadataUrl?: string; scope?: string } {
  const { resourceMetadataUrl, scope } = challenge;
  return {
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
  };
}

function secretsOf({ tokens, client }: AccountRecord): string[] {
  const found = [tokens?.access_token, tokens?.refresh_token, tokens?.id_token, client?.client_secret];
  return found.filter((value): value is string => typeof value === 'string' && value.length > 5);
}
