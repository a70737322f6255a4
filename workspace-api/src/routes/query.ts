import { AppError } from '@mcpbridge/shared/errors.js';

/** A whole number of the query. @throws INVALID_REQUEST */
export function count(
  name: string,
  text: string | undefined,
  { fallback, min = 1, max = Number.MAX_SAFE_INTEGER }: { fallback: number; min?: number; max?: number },
): number {
  const value = text === undefined ? fallback : Number(text);
  if (text !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`;
  throw new AppError('INVALID_REQUEST', `${name} is "${text}"; give a whole number ${range}.`);
}

/** `?name`, `?name=true`, `?name=1` are yes. */
export function isOn(text: string | undefined): boolean {
  return text !== undefined && text !== 'false' && text !== '0';
}

/** @throws INVALID_REQUEST when it is missing or empty */
export function required(name: string, text: string | undefined): string {
  if (text) return text;
  throw new AppError('INVALID_REQUEST', `The query parameter "${name}" is missing.`);
}
