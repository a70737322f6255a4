import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { orAborted } from '../abort.js';

const FIRST_MS = 1000;
const LONGEST_MS = 30_000;

/** Why a server could not be reached, and when the next attempt may be made (milliseconds since the epoch). */
export interface Failure {
  reason: string;
  retryAt: number;
}

interface LastFailure extends Failure {
  /** False: the caller gains nothing from trying again; somebody has to change something first. */
  retryable: boolean;
}

/**
 * Keeps a server that cannot be reached from being tried at every call: after a failed attempt, others fail at once
 * with the same reason until a pause is over, which doubles from one second to thirty.
 */
export class Breaker {
  private failures = 0;
  private last: LastFailure | undefined;
  /** The attempt that finds out whether the server is back; the others wait for its outcome. */
  private probe: Promise<unknown> | undefined;

  get failure(): Failure | undefined {
    return this.last && { reason: this.last.reason, retryAt: this.last.retryAt };
  }

  /** Aborting `signal` ends the wait for somebody else's attempt; an attempt of one's own has to heed it itself. */
  async run<T>(attempt: () => Promise<T>, signal: CancelSignal): Promise<T> {
    while (this.last && this.probe) await orAborted(outcome(this.probe), signal);
    if (this.last && Date.now() < this.last.retryAt) throw tooEarly(this.last);
    const failuresBefore = this.failures;
    const running = attempt();
    this.probe = running;
    try {
      const result = await running;
      this.reset();
      return result;
    } catch (error) {
      throw this.note(error, failuresBefore);
    } finally {
      if (this.probe === running) this.probe = undefined;
    }
  }

  reset(): void {
    this.failures = 0;
    this.last = undefined;
  }

  private note(error: unknown, failuresBefore: number): unknown {
    // What a caller did (a cancelled start) says nothing of the server.
    if (!(error instanceof AppError) || error.code !== 'PROVIDER_UNAVAILABLE') return error;
    // Attempts side by side fail for one cause; it counts once.
    if (this.failures === failuresBefore || !this.last) {
      const pause = Math.min(FIRST_MS * 2 ** this.failures, LONGEST_MS);
      this.failures += 1;
      this.last = { reason: error.message, retryable: error.retryable, retryAt: Date.now() + pause };
    }
    return new AppError(error.code, error.message, {
      cause: error.cause,
      retryable: error.retryable,
      details: { ...(error.details as object | undefined), retryAt: this.last.retryAt },
    });
  }
}

function tooEarly({ reason, retryable, retryAt }: LastFailure): AppError {
  const seconds = Math.ceil((retryAt - Date.now()) / 1000);
  // Servers' own words end as they like.
  const said = /[.!?]$/.test(reason) ? reason : `${reason}.`;
  const sentence = retryable ? `${said} It is tried again in ${seconds} s.` : reason;
  return new AppError('PROVIDER_UNAVAILABLE', sentence, { retryable, details: { retryAt } });
}

function outcome(probe: Promise<unknown>): Promise<unknown> {
  // Whoever made the attempt reports its failure.
  return probe.catch(() => undefined);
}
