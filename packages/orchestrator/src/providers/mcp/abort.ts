import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';

/** What the pipeline aborted with (a deadline has its own code), else that the caller went away. */
export function abortReason(signal: CancelSignal): AppError {
  const { reason } = signal;
  return reason instanceof AppError ? reason : new AppError('CALL_CANCELLED', 'The call was cancelled.');
}

/** The promise's outcome, or the abort, whichever comes first; what the promise stands for goes on. */
export function orAborted<T>(promise: Promise<T>, signal: CancelSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(abortReason(signal));
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(abortReason(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** For libraries that take none but the real one. */
export function abortSignalOf(signal: CancelSignal): AbortSignal {
  const abort = new AbortController();
  const onAbort = () => abort.abort(abortReason(signal));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return abort.signal;
}
