import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { propertiesOf, requiredOf, type Schema, typesOf, valuesOf, without } from './json-schema.js';
import { joinedDescription } from './told.js';

/** Takes whatever both take, and perhaps more; where they say different things, what the first says. */
export function both(first: JsonObject, second: JsonObject): JsonObject {
  const joined: JsonObject = { ...second, ...first };
  if (isObject(first.properties) && isObject(second.properties)) {
    joined.properties = bothNamed(first.properties, second.properties);
  }
  if (isObject(first.items) && isObject(second.items)) joined.items = both(first.items, second.items);
  if (first.required && second.required) {
    joined.required = [...new Set([...requiredOf(first), ...requiredOf(second)])];
  }
  if (first.type !== undefined && second.type !== undefined) joined.type = commonTypes(first, second);
  if (first.additionalProperties === true && second.additionalProperties !== undefined) {
    joined.additionalProperties = second.additionalProperties;
  }
  return closedOnlyIfSure(joined, [first, second]);
}

function bothNamed(first: JsonObject, second: JsonObject): JsonObject {
  const named: JsonObject = { ...first };
  for (const [name, schema] of Object.entries(second)) {
    const known = named[name];
    named[name] = isObject(known) && isObject(schema) ? both(known, schema) : (known ?? schema);
  }
  return named;
}

function commonTypes(first: JsonObject, second: JsonObject): unknown {
  const allowed = typesOf(second) ?? [];
  const common = (typesOf(first) ?? []).flatMap((type) => {
    if (allowed.includes(type)) return [type];
    if (type === 'integer' && allowed.includes('number')) return [type];
    return type === 'number' && allowed.includes('integer') ? ['integer'] : [];
  });
  return common.length === 0 ? first.type : oneOrList(common);
}

/** Takes whatever one of them takes; a property that several name takes what any of them takes for it. */
export function either(alternatives: readonly JsonObject[]): JsonObject {
  const [first, ...rest] = alternatives;
  if (first === undefined) return {};
  if (rest.every((other) => isDeepStrictEqual(other, first))) return first;
  const solid = alternatives.filter((one) => !isDeepStrictEqual(typesOf(one), ['null']));
  const description = joinedDescription(solid);
  const kinds = alternatives.map(typesOf);
  if (!kinds.every((types) => types !== undefined)) return description ? { description } : {};
  const joined: JsonObject = { ...agreed(solid), type: oneOrList(numbersOnce(kinds.flat())) };
  Object.assign(joined, joinedValues(alternatives), joinedObjects(of('object', solid)));
  const arrays = of('array', solid);
  if (arrays.length > 0) joined.items = eitherSchema(arrays.map((array) => array.items));
  if (description) joined.description = description;
  return closedOnlyIfSure(joined, solid);
}

/** What all say alike. */
function agreed(alternatives: readonly JsonObject[]): JsonObject {
  const [first = {}, ...rest] = alternatives;
  const entries = Object.entries(without(first, 'type', 'const', 'enum', 'properties', 'required', 'items'));
  return Object.fromEntries(
    entries.filter(([key, value]) => rest.every((other) => isDeepStrictEqual(other[key], value))),
  );
}

function joinedValues(alternatives: readonly JsonObject[]): JsonObject {
  const lists = alternatives.map(
    (one) => valuesOf(one) ?? (isDeepStrictEqual(typesOf(one), ['null']) ? [null] : undefined),
  );
  return lists.every((values) => values !== undefined) ? { enum: [...new Set(lists.flat())] } : {};
}

function joinedObjects(objects: readonly JsonObject[]): JsonObject {
  if (objects.length === 0) return {};
  const names = new Set(objects.flatMap((object) => Object.keys(propertiesOf(object))));
  const properties = [...names].map((name) => {
    const schemas = objects.flatMap((object) =>
      Object.hasOwn(propertiesOf(object), name) ? [propertiesOf(object)[name]] : [],
    );
    return [name, eitherSchema(schemas)];
  });
  const [first = {}, ...rest] = objects;
  const required = requiredOf(first).filter((name) =>
    rest.every((other) => requiredOf(other).includes(name)),
  );
  return {
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** Of schemas that may have unions themselves; one that is not said or takes anything makes all take anything. */
function eitherSchema(schemas: readonly unknown[]): Schema {
  const objects = schemas.filter(isObject);
  return objects.length < schemas.length ? {} : oneOf(objects);
}

function oneOf(schemas: readonly JsonObject[]): JsonObject {
  const [first = {}, ...rest] = schemas;
  if (rest.every((other) => isDeepStrictEqual(other, first))) return first;
  if (
    schemas.some((schema) => 'anyOf' in schema || 'oneOf' in schema || 'allOf' in schema || '$ref' in schema)
  ) {
    return { anyOf: [...schemas] };
  }
  return either(schemas);
}

const of = (type: string, schemas: readonly JsonObject[]) =>
  schemas.filter((schema) => typesOf(schema)?.includes(type));

/** Patterns of one alternative are not another's: beside them nothing can be called all there is. */
function closedOnlyIfSure(joined: JsonObject, parts: readonly JsonObject[]): JsonObject {
  const patterned = parts.filter((part) => 'patternProperties' in part).length;
  const sure = patterned === 0 || (patterned === parts.length && 'patternProperties' in joined);
  return sure ? joined : without(joined, 'additionalProperties');
}

function numbersOnce(types: readonly string[]): string[] {
  const once = [...new Set(types)];
  return once.includes('number') ? once.filter((type) => type !== 'integer') : once;
}

export function oneOrList(types: readonly string[]): unknown {
  return types.length === 1 ? types[0] : types;
}
