import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';

/** A schema: an object, or true (anything) or false (nothing). */
export type Schema = JsonObject | boolean;

const ONE = [
  'items',
  'additionalItems',
  'additionalProperties',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const LIST = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const NAMED = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'];
/** Keywords that say of what kind a value is when nothing else does. */
const IMPLIED: Record<string, readonly string[]> = {
  object: ['properties', 'required', 'additionalProperties', 'patternProperties'],
  array: ['items', 'prefixItems'],
};

export const isSchema = (value: unknown): value is Schema => typeof value === 'boolean' || isObject(value);

/**
 * The same with every schema directly within exchanged for what `change` makes of it, which takes no less. Where that
 * would make the whole take less (`not`, `if`, exactly one of), the keyword is given up.
 */
export function mapChildren(schema: JsonObject, change: (child: Schema) => Schema): JsonObject {
  const changed: JsonObject = { ...schema };
  const some = (child: unknown) => (isSchema(child) ? change(child) : child);
  for (const key of ONE) if (isSchema(changed[key])) changed[key] = some(changed[key]);
  for (const key of LIST) {
    const list = changed[key];
    if (Array.isArray(list)) changed[key] = list.map(some);
  }
  for (const key of NAMED) {
    const named = changed[key];
    if (isObject(named)) {
      changed[key] = Object.fromEntries(Object.entries(named).map(([name, child]) => [name, some(child)]));
    }
  }
  return givenUp(schema, changed);
}

function givenUp(schema: JsonObject, changed: JsonObject): JsonObject {
  const differs = (key: string) => !isDeepStrictEqual(schema[key], changed[key]);
  const lost = [...(differs('not') ? ['not'] : []), ...(differs('if') ? ['if', 'then', 'else'] : [])];
  if (differs('oneOf')) {
    lost.push('oneOf');
    changed.anyOf ??= changed.oneOf;
  }
  return lost.length > 0 ? without(changed, ...lost) : changed;
}

/** The kinds of values that a schema takes; undefined when that is not said. */
export function typesOf(schema: JsonObject): readonly string[] | undefined {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.map(String);
  const values = valuesOf(schema);
  if (values) return [...new Set(values.map(typeName))];
  const implied = Object.keys(IMPLIED).find((kind) => IMPLIED[kind]?.some((key) => key in schema));
  return implied === undefined ? undefined : [implied];
}

/** The values of `const` or `enum`. */
export function valuesOf(schema: JsonObject): readonly unknown[] | undefined {
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

export function propertiesOf(schema: JsonObject): JsonObject {
  return isObject(schema.properties) ? schema.properties : {};
}

export function requiredOf(schema: JsonObject): string[] {
  return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
}

export function without(schema: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
