import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { RJSFSchema, UiSchema } from '@rjsf/utils';

/** What the form can show of a schema; the fields that it cannot are JSON. */
export interface FormShape {
  schema: RJSFSchema;
  ui: UiSchema;
}

const SCALARS = new Set(['string', 'number', 'integer', 'boolean']);
const DEEPEST = 5;
/** A schema that multiplies by its references is no form. */
const MOST_FIELDS = 200;
/** Of a field: these say how it is shown, and what it takes is checked against the tool's own schema. */
const KEPT = [
  'title',
  'description',
  'default',
  'enum',
  'format',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
];

/**
 * Objects, lists and plain values become fields, references are followed. What is recursive, deep, or one of several
 * shapes is written as JSON, in that place alone.
 */
export function formShape(root: JsonObject): FormShape {
  let fields = 0;
  const field = (given: unknown, seen: readonly unknown[]): FormShape => {
    const schema = followed(root, given);
    if (!isObject(schema) || seen.includes(schema) || seen.length > DEEPEST || ++fields > MOST_FIELDS)
      return asJson(given);
    const within = [...seen, schema];
    const said = Object.fromEntries(KEPT.flatMap((key) => (key in schema ? [[key, schema[key]]] : [])));
    const { type, properties, items } = schema;
    if (['oneOf', 'anyOf', 'allOf', 'patternProperties'].some((key) => key in schema)) return asJson(schema);
    if (Array.isArray(schema.enum) || SCALARS.has(String(type)))
      return {
        schema: { ...said, type: SCALARS.has(String(type)) ? type : undefined } as RJSFSchema,
        ui: {},
      };
    if (type === 'array' && isObject(items)) {
      const inner = field(items, within);
      return { schema: { ...said, type, items: inner.schema } as RJSFSchema, ui: { items: inner.ui } };
    }
    if (!isObject(properties)) return asJson(schema);
    const inner = Object.entries(properties).map(([name, each]) => [name, field(each, within)] as const);
    return {
      schema: {
        ...said,
        type: 'object',
        properties: Object.fromEntries(inner.map(([name, shape]) => [name, shape.schema])),
        ...(Array.isArray(schema.required) ? { required: schema.required } : {}),
      } as RJSFSchema,
      ui: Object.fromEntries(inner.map(([name, shape]) => [name, shape.ui])),
    };
  };
  const { oneOf: _, anyOf: __, allOf: ___, patternProperties: ____, ...plain } = root;
  return field({ ...plain, properties: isObject(root.properties) ? root.properties : {} }, []);
}

/** What the schema says is usual, to begin with: plain values alone, each of which a field shows. */
export function usualValue({ properties = {} }: RJSFSchema): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) =>
      isObject(field) && ['string', 'number', 'boolean'].includes(typeof field.default)
        ? [[name, field.default]]
        : [],
    ),
  );
}

function asJson(schema: unknown): FormShape {
  const { title, description } = isObject(schema) ? schema : {};
  return { schema: { title, description } as RJSFSchema, ui: { 'ui:field': 'JsonField' } };
}

/** A local reference, as far as it leads. */
function followed(root: JsonObject, given: unknown): unknown {
  let schema = given;
  for (let step = 0; step < DEEPEST && isObject(schema) && typeof schema.$ref === 'string'; step++) {
    if (!schema.$ref.startsWith('#/')) return undefined;
    let target: unknown = root;
    for (const part of schema.$ref.slice(2).split('/'))
      target = isObject(target)
        ? target[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')]
        : undefined;
    schema = target;
  }
  return schema;
}
