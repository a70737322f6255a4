import { AppError } from '@mcpbridge/shared/errors.js';
import {
  type AuthProvider,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
} from '@modelcontextprotocol/client';
import type { Challenge, Credentials } from '../credentials.js';

/** Of one request, for more scope. */
const MAX_STEP_UPS = 3;

/** Which token the requests of one connection show, and what is done about one that is refused. */
export class ShownTokens {
  /** For the SDK; undefined where nothing is shown. */
  readonly provider: AuthProvider | undefined;
  private readonly refusedOf = new WeakMap<Response, string>();
  /** Of the latest request. */
  private latest: string | undefined;

  constructor(
    private readonly server: string,
    private readonly credentials: Credentials | undefined,
  ) {
    this.provider = credentials && {
      token: async () => {
        this.latest = await credentials.token();
        return this.latest;
      },
      onUnauthorized: ({ response }) =>
        credentials.refused(this.refusedOf.get(response), challengeOf(response)),
    };
  }

  /** Remembers which token a refusal is about: by the time it is dealt with there may be another. */
  answered(response: Response, { headers }: RequestInit): void {
    if (response.status !== 401) return;
    const given = new Headers(headers).get('authorization') ?? '';
    this.refusedOf.set(response, given.replace(/^Bearer /i, ''));
  }

  /** Once more when there is a token with the scope that was missing; credentials have the last word. */
  async withScope(send: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await send();
      } catch (error) {
        const { credentials } = this;
        if (!(error instanceof InsufficientScopeError)) throw error;
        if (!credentials || tries >= MAX_STEP_UPS) throw this.scopeRefused(error.requiredScope, tries);
        await credentials.insufficient(this.latest, {
          resourceMetadataUrl: error.resourceMetadataUrl?.href,
          scope: error.requiredScope,
        });
      }
    }
  }

  private scopeRefused(scope: string | undefined, tries: number): AppError {
    const more = tries === 0 ? '' : ` ${tries} tokens with more rights did not help.`;
    const sentence = `Server "${this.server}" answered 403: the key is not good for that${scope ? ` (it wants the scope "${scope}")` : ''}.${more}`;
    return new AppError('PROVIDER_UNAVAILABLE', sentence, { details: { status: 403 }, retryable: false });
  }
}

function challengeOf(response: Response): Challenge {
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl: resourceMetadataUrl?.href, scope };
}
