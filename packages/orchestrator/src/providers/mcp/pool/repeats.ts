import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';

/** Requests that change nothing, or nothing more when they come twice. */
const READS =
  /^(tools\/list|resources\/|prompts\/|completion\/|logging\/|ping$|tasks\/(get|list|result|cancel)$)/;

export function changesNothing(method: string): boolean {
  return READS.test(method);
}

/** May a call be made twice of a tool with these annotations? */
export function isRepeatable(annotations: unknown): boolean {
  return isObject(annotations) && (annotations.readOnlyHint === true || annotations.idempotentHint === true);
}

/** Names the tool or method, which the connection did not know. */
export function lostDuring(what: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'CONNECTION_LOST') return error;
  const { cause, details } = error;
  return new AppError('CONNECTION_LOST', `"${what}" was cut off: ${error.message}`, { cause, details });
}
