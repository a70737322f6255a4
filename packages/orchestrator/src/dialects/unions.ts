import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { both, either } from './join.js';
import { typesOf, without } from './json-schema.js';
import { describe, formsOf } from './told.js';

const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;
/** They tie properties to each other across alternatives; where these are gone, so are they. */
const TIES = ['if', 'then', 'else', 'not', 'dependentSchemas', 'unevaluatedProperties', 'unevaluatedItems'];

/** `oneOf`, `anyOf` and `allOf` by Claude's API, `not` by OpenAI's as well; a reference is no `type: "object"` to either. */
export function isRefusedAtRoot(schema: JsonObject): boolean {
  return [...UNIONS, 'not', '$ref'].some((key) => key in schema);
}

function isUnion(schema: JsonObject): boolean {
  return UNIONS.some((key) => Array.isArray(schema[key])) || TIES.some((key) => key in schema);
}

/** One plain schema that takes whatever the union takes. */
export function merged(schema: JsonObject): JsonObject {
  if (!isUnion(schema)) return schema;
  let whole = without(schema, ...UNIONS, ...TIES);
  for (const part of partsOf(schema.allOf)) whole = both(whole, merged(part));
  for (const key of ['anyOf', 'oneOf'] as const)
    whole = withAlternatives(whole, partsOf(schema[key]), schema[key]);
  return whole;
}

/** The same with `anyOf` as the only kind of union. */
export function inAnyOf(schema: JsonObject): JsonObject {
  if (!isUnion(schema)) return schema;
  const { oneOf, allOf, anyOf, ...rest } = schema;
  let whole = without(rest, ...TIES);
  for (const part of partsOf(allOf)) whole = both(whole, inAnyOf(part));
  const [first, ...others] = [anyOf, oneOf].map(partsOf).filter((parts) => parts.length > 0);
  for (const parts of others) whole = withAlternatives(whole, parts, parts);
  if (!first) return whole;
  return first.length === 1 ? both(whole, inAnyOf(first[0] ?? {})) : { ...whole, anyOf: first };
}

function withAlternatives(whole: JsonObject, parts: readonly JsonObject[], given: unknown): JsonObject {
  if (parts.length === 0) return whole;
  const alternatives = parts.map(merged);
  const joined = both(whole, either(alternatives));
  // One of them is `true`: anything goes.
  if (Array.isArray(given) && given.includes(true)) return whole;
  const forms = alternatives.every((one) => typesOf(one)?.includes('object')) ? formsOf(alternatives) : '';
  return forms ? describe(joined, forms) : joined;
}

/** Those that something can fit: `{"not": {}}` is how some libraries write an alternative that nothing does. */
function partsOf(union: unknown): JsonObject[] {
  if (!Array.isArray(union)) return [];
  return union.filter(isObject).filter((part) => !(isObject(part.not) && Object.keys(part.not).length === 0));
}
