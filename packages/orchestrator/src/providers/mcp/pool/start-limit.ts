import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { ServerEntry } from '../../../config/server-entry.js';

const START_TIMEOUT_MS = 30_000;

export function startTimeoutOf({ startTimeoutMs = START_TIMEOUT_MS }: ServerEntry): number {
  return startTimeoutMs;
}

/** Ends a start that takes too long, or that nobody wants any more (`over`). */
export class StartLimit {
  private readonly cancel = new Cancel();
  private readonly timer: NodeJS.Timeout;
  private readonly onOver = () => this.cancel.abort(this.over.reason);

  constructor(
    entry: ServerEntry,
    private readonly over: CancelSignal,
  ) {
    const ms = startTimeoutOf(entry);
    const sentence = `Server "${entry.id}" was not ready within ${ms / 1000} s.`;
    this.timer = setTimeout(() => this.cancel.abort(new AppError('PROVIDER_UNAVAILABLE', sentence)), ms);
    over.addEventListener('abort', this.onOver);
  }

  get signal(): CancelSignal {
    return this.cancel.signal;
  }

  lift(): void {
    clearTimeout(this.timer);
    this.over.removeEventListener('abort', this.onOver);
  }
}

/** Why there is no connection, with the last words of the server. */
export function startFailure(server: string, thrown: unknown, words: readonly string[]): AppError {
  const error =
    thrown instanceof AppError
      ? thrown
      : new AppError('PROVIDER_UNAVAILABLE', `Server "${server}" could not be started: ${messageOf(thrown)}`);
  if (error.code === 'CALL_CANCELLED' || error.code.startsWith('SIGN_IN_')) return error;
  const said = error.code === 'CONNECTION_LOST' || words.length === 0 ? '' : ` It said: ${words.join(' | ')}`;
  const { cause, details } = error;
  const retryable = error.code === 'PROVIDER_UNAVAILABLE' ? error.retryable : true;
  return new AppError('PROVIDER_UNAVAILABLE', error.message + said, { cause, details, retryable });
}
