import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { SchemaRules } from './dialect.js';
import { either, oneOrList } from './join.js';
import {
  mapChildren,
  propertiesOf,
  requiredOf,
  type Schema,
  typesOf,
  valuesOf,
  without,
} from './json-schema.js';
import { tell } from './told.js';
import { inAnyOf, merged } from './unions.js';

/** A schema, and all within it, by a dialect's rules. */
export function rewrite(schema: Schema, rules: SchemaRules): Schema {
  if (!isObject(schema)) return schema;
  const joined = withUnions(schema, rules);
  const whole = mapChildren(withTuples(joined, rules), (child) => rewrite(child, rules));
  return withTypes(withKeywords(withEnums(completed(whole, rules), rules), rules), rules);
}

function withUnions(schema: JsonObject, { unions }: SchemaRules): JsonObject {
  if (unions === 'kept') return schema;
  return unions === 'merged' ? merged(schema) : inAnyOf(schema);
}

function withTuples(schema: JsonObject, { tuples }: SchemaRules): JsonObject {
  const old = Array.isArray(schema.items);
  const places = old ? schema.items : schema.prefixItems;
  const rest = old ? schema.additionalItems : schema.items;
  if (!Array.isArray(places)) return schema;
  const bare = without(schema, 'items', 'additionalItems', 'prefixItems');
  if (tuples === 'prefixItems') {
    return { ...bare, prefixItems: places, ...(rest === undefined ? {} : { items: rest }) };
  }
  return { ...bare, items: anyPlace(places.filter(isObject), rest) };
}

/** Tuples leave open what follows them more out of carelessness than on purpose: only what is described counts. */
function anyPlace(places: readonly JsonObject[], rest: unknown): JsonObject {
  return either((isObject(rest) ? [...places, rest] : places).map(merged));
}

function completed(schema: JsonObject, { complete, unions }: SchemaRules): JsonObject {
  if (!complete) return schema;
  const types = typesOf(schema);
  const whole: JsonObject = { ...schema };
  if (types && schema.type === undefined && !('anyOf' in schema)) whole.type = oneOrList(types);
  if (types?.includes('array') && !isObject(whole.items)) whole.items = {};
  if (!types?.includes('object')) return whole;
  const properties = Object.entries(propertiesOf(schema));
  whole.properties = Object.fromEntries(properties.map(([name, one]) => [name, isObject(one) ? one : {}]));
  // An alternative may well name properties that stand beside the union.
  if (unions !== 'merged' || schema.required === undefined) return whole;
  whole.required = requiredOf(schema).filter((name) => Object.hasOwn(propertiesOf(schema), name));
  return whole;
}

function withEnums(schema: JsonObject, { enums }: SchemaRules): JsonObject {
  const values = valuesOf(schema);
  if (enums === 'kept' || !values) return schema;
  const bare = without(schema, 'const', 'enum');
  const areTexts =
    schema.type === 'string' && values.every((value) => typeof value === 'string' && value !== '');
  return areTexts ? { ...bare, enum: values } : tell(bare, { enum: values });
}

function withKeywords(schema: JsonObject, { keywords }: SchemaRules): JsonObject {
  if (keywords === 'all') return schema;
  const lost = Object.entries(schema).filter(([key]) => !keywords.has(key));
  return tell(without(schema, ...lost.map(([key]) => key)), Object.fromEntries(lost));
}

/** Which keywords are of one kind of value alone. */
const ONLY: Record<string, readonly string[]> = { object: ['properties', 'required'], array: ['items'] };
/** What Gemini wants in each alternative, and others beside them. */
const BESIDE = ['title', 'description', 'default'];

function withTypes(schema: JsonObject, rules: SchemaRules): JsonObject {
  const { type, ...rest } = schema;
  if (rules.types === 'kept' || !Array.isArray(type)) return schema;
  if (type.length === 1) return { ...rest, type: type[0] };
  if (rules.types === 'anyOf') {
    if ('anyOf' in rest) return rest;
    const beside = Object.entries(rest).filter(([key]) => BESIDE.includes(key));
    return { ...Object.fromEntries(beside), ...alternatives(without(rest, ...BESIDE), type, {}) };
  }
  const solid = type.filter((one) => one !== 'null');
  const nullable = solid.length < type.length ? { nullable: true } : {};
  if (solid.length === 0 || 'anyOf' in rest) return rest;
  return solid.length === 1 ? { ...rest, type: solid[0], ...nullable } : alternatives(rest, solid, nullable);
}

/** `anyOf` must be alone in Gemini's schemas, so each of its members says what is of its kind, and all of them the rest. */
function alternatives(schema: JsonObject, types: readonly unknown[], nullable: JsonObject): JsonObject {
  const ofOthers = (type: unknown) =>
    Object.entries(ONLY).flatMap(([owner, keys]) => (owner === type ? [] : keys));
  return {
    anyOf: types.map((type) => ({ type, ...without(schema, ...ofOthers(type)), ...nullable })),
  };
}
