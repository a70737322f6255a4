import { AppError } from './errors.js';
import { isObject, type JsonObject } from './json-rpc.js';

/**
 * What one side said in its `notifications/cancelled`, less the id, which is another on the other side. It travels as
 * `details.notice` of the failure with which the request is aborted.
 */
export function noticeOf(reason: unknown): JsonObject | undefined {
  const details = reason instanceof AppError ? reason.details : undefined;
  return isObject(details) && isObject(details.notice) ? details.notice : undefined;
}
