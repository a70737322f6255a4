import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isObject, type JsonObject } from './json-rpc.js';

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  validateFormats: true,
  logger: false,
  addUsedSchema: false,
};
const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/;
const DRAFT_2019 = /^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/;
const DRAFT_2020 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

export type Check = (value: unknown) => string[];

/**
 * Compiles a schema in the dialect that its `$schema` names (none: 2020-12), each in a validator of its own,
 * so that equal `$id`s of two servers never meet. The check answers with one line a fault: path and what was expected.
 * Throws when the dialect is unknown or the schema is not valid in it.
 */
export function compileSchema(schema: JsonObject): Check {
  const ajv = validatorFor(schema.$schema);
  formats.default(ajv);
  const validate: ValidateFunction = ajv.compile(withoutId(schema));
  return (value) => (validate(value) ? [] : describe(validate.errors ?? [], value));
}

function validatorFor(dialect: unknown): Ajv {
  if (dialect === undefined || (typeof dialect === 'string' && DRAFT_2020.test(dialect)))
    return new Ajv2020(OPTIONS);
  if (typeof dialect === 'string' && DRAFT_2019.test(dialect)) return new Ajv2019(OPTIONS);
  if (typeof dialect === 'string' && DRAFT_07.test(dialect)) return new Ajv({ ...OPTIONS, meta: true });
  throw new Error(`The schema's dialect ${JSON.stringify(dialect)} is not known here.`);
}

/** The root's own address would only serve references from elsewhere; draft-06 needs its meta schema under another name. */
function withoutId(schema: JsonObject): JsonObject {
  const { $id, $schema, ...rest } = schema;
  return rest;
}

/** `/path: what is wrong with it`, one line a fault, alike ones once. */
function describe(errors: ErrorObject[], value: unknown): string[] {
  const lines = new Set<string>();
  for (const error of errors)
    lines.add(`${error.instancePath || '(root)'}: ${expectation(error)}${given(error, value)}`);
  return [...lines].slice(0, 10);
}

function expectation(error: ErrorObject): string {
  const { params, keyword, message = 'is not valid' } = error;
  if (keyword === 'additionalProperties') return `has an unknown property "${params.additionalProperty}"`;
  if (keyword === 'enum') return `must be one of ${JSON.stringify(params.allowedValues)}`;
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  return message;
}

/** What stood there instead, for the faults where that helps; never the value itself, which may be a secret. */
function given(error: ErrorObject, root: unknown): string {
  if (error.keyword !== 'type') return '';
  const found = error.instancePath
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => step(at, key.replaceAll('~1', '/').replaceAll('~0', '~')), root);
  return `, got ${typeName(found)}`;
}

function step(at: unknown, key: string): unknown {
  if (Array.isArray(at)) return at[Number(key)];
  return isObject(at) ? at[key] : undefined;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
