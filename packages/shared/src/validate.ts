import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isObject, type JsonObject } from './json-rpc.js';
import { isCostly } from './schema-cost.js';

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  validateFormats: true,
  logger: false,
};
const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-0[67]\/schema#?$/;
const DRAFT_2019 = /^https?:\/\/json-schema\.org\/draft\/2019-09\/schema#?$/;
const DRAFT_2020 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/** What a check needs of a pattern; `toString` tells two of them apart. */
export interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

export type Patterns = (source: string, flags: string) => Pattern;

export type Check = (value: unknown) => string[];

/**
 * Compiles a schema in the dialect that its `$schema` names (none: 2020-12), each in a validator of its own,
 * so that equal `$id`s of two servers never meet. The check answers with one line a fault: path and what was expected.
 * Throws when the dialect is unknown, the schema is not valid in it, or its check would take too long. `patterns`: what
 * tries its patterns, in the place of RegExp.
 */
export function compileSchema(schema: JsonObject, { patterns }: { patterns?: Patterns } = {}): Check {
  if (isCostly(schema)) throw new Error('The schema is too large, or branches without end.');
  const dialect = dialectOf(schema.$schema);
  const bare = withoutId(schema);
  judgeOf(dialect).validateSchema(bare, true);
  const options = {
    ...OPTIONS,
    validateSchema: false,
    ...(patterns ? { code: { regExp: engineOf(patterns) } } : {}),
  };
  const validate: ValidateFunction = validatorFor(dialect, options).compile(bare);
  return (value) => (validate(value) ? [] : describe(validate.errors ?? [], value));
}

/** The name would only be used for checks that are written to a file. */
const engineOf = (patterns: Patterns) => Object.assign(patterns, { code: 'patterns' });

type Dialect = '2020-12' | '2019-09' | 'draft-07';

function dialectOf(named: unknown): Dialect {
  if (named === undefined || (typeof named === 'string' && DRAFT_2020.test(named))) return '2020-12';
  if (typeof named === 'string' && DRAFT_2019.test(named)) return '2019-09';
  if (typeof named === 'string' && DRAFT_07.test(named)) return 'draft-07';
  throw new Error(`The schema's dialect ${JSON.stringify(named)} is not known here.`);
}

function validatorFor(dialect: Dialect, options: Options): Ajv {
  const ajv = { '2020-12': Ajv2020, '2019-09': Ajv2019, 'draft-07': Ajv }[dialect];
  const validator = new ajv(options);
  formats.default(validator);
  return validator;
}

/** Says whether a schema is one at all. Compiling the dialect's own schema takes 40 ms, so it is done once. */
function judgeOf(dialect: Dialect): Ajv {
  let judge = judges.get(dialect);
  if (!judge) {
    judge = validatorFor(dialect, OPTIONS);
    judges.set(dialect, judge);
  }
  return judge;
}

const judges = new Map<Dialect, Ajv>();

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
