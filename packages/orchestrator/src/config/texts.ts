import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Reading } from './reading.js';

/** The values of `env` or `headers` as texts; null takes one away. */
export function texts(field: string, values: unknown, fill: Reading['fill']): Record<string, string> {
  if (!isObject(values)) return {};
  const given = Object.entries(values as JsonObject).filter(([, value]) => value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, fill(`${field}.${name}`, value)]));
}
