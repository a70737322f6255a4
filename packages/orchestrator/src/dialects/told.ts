import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { propertiesOf, requiredOf, valuesOf } from './json-schema.js';

const LONGEST = 400;
/** They bind nobody, or say what is said elsewhere. */
const SILENT = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  'title',
  'examples',
  'additionalItems',
  'unevaluatedProperties',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

/** The description with what a dialect has no words for, as the schema had it: a model reads and heeds it there. */
export function tell(schema: JsonObject, lost: JsonObject): JsonObject {
  const facts = Object.entries(lost)
    .filter(([key]) => !SILENT.has(key) && !key.startsWith('x-'))
    .filter(([key, value]) => key !== 'additionalProperties' || typeof value !== 'boolean')
    .map(([key, value]) => `${key}: ${shortened(JSON.stringify(value))}`);
  return facts.length === 0 ? schema : describe(schema, `(${facts.join(', ')})`);
}

export function describe(schema: JsonObject, more: string): JsonObject {
  const { description } = schema;
  return {
    ...schema,
    description: typeof description === 'string' && description ? `${description} ${more}` : more,
  };
}

/** Of alternatives that were put together: their own descriptions, each once. */
export function joinedDescription(alternatives: readonly JsonObject[]): string {
  const texts = alternatives.flatMap(({ description }) =>
    typeof description === 'string' ? [description] : [],
  );
  return shortened([...new Set(texts)].join(' / '));
}

/** `One of: kind = "a", path | kind = "b", url.`: what belongs together, which one flat object no longer says. */
export function formsOf(alternatives: readonly JsonObject[]): string {
  const forms = alternatives.map(formOf);
  const distinct = new Set(forms);
  if (distinct.size < 2 || distinct.has('')) return '';
  return shortened(`One of: ${[...distinct].join(' | ')}.`);
}

function formOf(alternative: JsonObject): string {
  const properties = propertiesOf(alternative);
  return requiredOf(alternative)
    .map((name) => {
      const schema = properties[name];
      const values =
        typeof schema === 'object' && schema !== null ? valuesOf(schema as JsonObject) : undefined;
      return values?.length === 1 ? `${name} = ${JSON.stringify(values[0])}` : name;
    })
    .join(', ');
}

function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
