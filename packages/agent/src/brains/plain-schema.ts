import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';

/**
 * The APIs of models take no alternatives at the top of a schema: their members are offered side by side, and which of
 * them go together is for the orchestrator to check.
 */
export function plainSchema(schema: JsonObject): JsonObject & { type: 'object' } {
  const { anyOf, oneOf, allOf, not, enum: values, properties, ...rest } = schema;
  const branches = [anyOf, oneOf, allOf].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  );
  const members = [...branches.map((branch) => branch.properties), properties].filter(isObject);
  return { ...rest, type: 'object', properties: Object.assign({}, ...members) };
}
