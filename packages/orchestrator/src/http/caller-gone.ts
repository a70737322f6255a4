import type { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { HotResponse } from './exchange.js';

/** The end of the caller's connection before the answer cancels what it asked for. */
export function onCallerGone(response: HotResponse, abort: Cancel): void {
  response.on('close', () => {
    if (!response.writableFinished) abort.abort(new AppError('CALL_CANCELLED', 'The caller went away.'));
  });
}
