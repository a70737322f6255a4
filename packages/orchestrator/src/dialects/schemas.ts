import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { SchemaRules } from './dialect.js';
import { inlineRefs } from './inline-refs.js';
import { without } from './json-schema.js';
import { rewrite } from './rewrite.js';
import { isRefusedAtRoot, merged } from './unions.js';

const inputs = new WeakMap<JsonObject, Map<SchemaRules, JsonObject>>();
const outputs = new WeakMap<JsonObject, Map<SchemaRules, JsonObject>>();

/**
 * An input schema in a dialect: whatever arguments the tool takes, this takes too, so that they travel as they are and
 * the tool's own schema decides. Three readings are taken that no server has been seen to contradict: what says
 * `properties` is an object, a property of one alternative is not something else in another, and nothing follows a
 * tuple. The very same object where nothing has to change.
 */
export function inputSchemaFor(rules: SchemaRules, schema: JsonObject): JsonObject {
  return remembered(inputs, rules, schema, () => {
    const mustMerge = isRefusedAtRoot(schema);
    const plain = mustMerge || rules.refs === 'inlined' ? inlineRefs(schema) : schema;
    return rewrite(mustMerge ? { ...merged(plain), type: 'object' } : plain, rules);
  });
}

/** Clients check results by the output schema, models never see it: only what a client's validator stumbles over. */
export function outputSchemaFor(rules: SchemaRules, schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const lenient: SchemaRules = {
    ...rules,
    unions: 'kept',
    types: 'kept',
    enums: 'kept',
    complete: false,
    keywords: 'all',
  };
  return remembered(outputs, rules, schema, () =>
    rewrite(rules.refs === 'inlined' ? inlineRefs(schema) : schema, lenient),
  );
}

function remembered(
  memory: WeakMap<JsonObject, Map<SchemaRules, JsonObject>>,
  rules: SchemaRules,
  schema: JsonObject,
  write: () => unknown,
): JsonObject {
  let known = memory.get(schema);
  if (!known) {
    known = new Map();
    memory.set(schema, known);
  }
  let written = known.get(rules);
  if (!written) {
    written = orItself(schema, write);
    known.set(rules, written);
  }
  return written;
}

/** A schema too deep to be walked through, or odd beyond reading, is the client's own affair. */
function orItself(schema: JsonObject, write: () => unknown): JsonObject {
  try {
    const written = write();
    // What was changed is in words of the newest draft, whatever it said of itself.
    return isObject(written) && !isDeepStrictEqual(written, schema) ? without(written, '$schema') : schema;
  } catch {
    return schema;
  }
}
