import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { REDACTED } from '@mcpbridge/shared/redact.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';

/**
 * Edited arguments whose blanks are again what was blanked, also within texts that are left as they were shown.
 * @throws INVALID_REQUEST for a blank where nothing was.
 */
export function unblanked(edited: JsonObject, original: JsonObject, hide: Hide): JsonObject {
  return filled(edited, original, '', hide) as JsonObject;
}

function filled(edited: unknown, original: unknown, path: string, hide: Hide): unknown {
  if (typeof edited === 'string' && typeof original === 'string' && edited === hide(original))
    return original;
  if (edited === REDACTED) {
    if (original !== undefined) return original;
    throw new AppError(
      'INVALID_REQUEST',
      `"${path}" is blank, and there was nothing: write what it shall be.`,
    );
  }
  if (Array.isArray(edited)) {
    const before = Array.isArray(original) ? original : [];
    return edited.map((item, at) => filled(item, before[at], `${path}/${at}`, hide));
  }
  if (!isObject(edited)) return edited;
  const before = isObject(original) ? original : {};
  return Object.fromEntries(
    Object.entries(edited).map(([key, value]) => [key, filled(value, before[key], `${path}/${key}`, hide)]),
  );
}
