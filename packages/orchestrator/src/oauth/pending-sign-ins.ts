import { AppError } from '@mcpbridge/shared/errors.js';
import type { Account } from './account.js';
import type { SignIn } from './sign-in.js';

/** Nobody takes longer to sign in. */
const LIFE_MS = 15 * 60_000;
const MAX = 200;

export interface PendingSignIn {
  signIn: SignIn;
  server: string;
  principal: string;
  /** Any browser may bring the answer: whoever began may sign in for all. Otherwise only the one who began. */
  isOpen: boolean;
  account: Account;
  /** The server's entry when it began. */
  entry: string;
}

/** Sign-ins whose browser is not back yet, each by a state that nobody can guess and that is good once. */
export class PendingSignIns {
  private readonly byState = new Map<string, PendingSignIn & { until: number }>();

  add(pending: PendingSignIn): void {
    this.byState.set(pending.signIn.state, { ...pending, until: Date.now() + LIFE_MS });
    const [oldest] = this.byState.keys();
    if (this.byState.size > MAX && oldest !== undefined) this.byState.delete(oldest);
  }

  /**
   * @throws INVALID_REQUEST for a state that is not ours, was used, or is too old; FORBIDDEN when somebody else brings
   * it: else one could have another's account put down as one's own.
   */
  take(state: string, by: string | undefined): PendingSignIn {
    const pending = this.byState.get(state);
    if (!pending || pending.until < Date.now()) {
      const sentence =
        'This sign-in is not known here: it was finished, took too long, or the orchestrator was started anew. Begin it again.';
      throw new AppError('INVALID_REQUEST', sentence);
    }
    if (by === undefined ? !pending.isOpen : by !== pending.principal)
      throw new AppError(
        'FORBIDDEN',
        'Whoever began this sign-in has to finish it: send the whole address of this page with POST /api/oauth/callback {"url": "…"}.',
      );
    this.byState.delete(state);
    return pending;
  }
}
