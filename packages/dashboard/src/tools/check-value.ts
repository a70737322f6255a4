import { type Schema, Validator } from '@cfworker/json-schema';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';

export interface Fault {
  /** With dots; empty for the whole. */
  path: string;
  message: string;
}

/** Of no use to a reader: they repeat that something below them is wrong. */
const WRAPPERS = new Set([
  'properties',
  'items',
  'additionalProperties',
  'allOf',
  '$ref',
  'if',
  'then',
  'else',
  'prefixItems',
]);

/** What a JSON Schema has against a value, by a validator that needs no `eval`. */
export function faultsOf(schema: JsonObject, value: unknown): Fault[] {
  const draft = String(schema.$schema ?? '').includes('draft-07') ? '7' : '2020-12';
  const { valid, errors } = new Validator(schema as Schema, draft, false).validate(value);
  if (valid) return [];
  const plain = errors.filter(({ keyword }) => !WRAPPERS.has(keyword));
  return (plain.length > 0 ? plain : errors).map(({ instanceLocation, error }) => ({
    path: instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.'),
    message: error,
  }));
}
