import { describe, expect, test } from '@jest/globals';
import { inputSchemaFor, outputSchemaFor } from '@mcpbridge/orchestrator/dialects/schemas.js';
import { DIALECTS } from '@mcpbridge/orchestrator/dialects/table.js';
import type { DialectName } from '@mcpbridge/shared/dialect-names.js';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { awkwardSchemas } from '../fixtures/awkward-schemas.mjs';
import { refusals } from '../support/dialect-rules.js';

const names = Object.keys(DIALECTS) as Exclude<DialectName, 'off'>[];
const inDialect = (dialect: (typeof names)[number], schema: Record<string, unknown>) =>
  inputSchemaFor(DIALECTS[dialect].schemas, schema);
const known = (name: string) => awkwardSchemas[name]?.schema ?? {};
const { gemini } = DIALECTS;

type Check = (args: unknown) => unknown;
const checks = new Map<string, Check>();

/** Compiling is slow, and most dialects write most schemas alike. */
function takes(schema: Record<string, unknown>): Check {
  const text = JSON.stringify(schema);
  const known = checks.get(text);
  if (known) return known;
  const ajv = '$schema' in schema ? new Ajv({ strict: false }) : new Ajv2020({ strict: false });
  formats.default(ajv);
  const check = ajv.compile(schema);
  checks.set(text, check);
  return check;
}

describe.each(names)('an input schema for %s', (dialect) => {
  test.each(Object.entries(awkwardSchemas))(
    '%s: is not refused, and takes what the tool takes',
    (_name, { schema, valid }) => {
      const written = inDialect(dialect, schema);
      expect(refusals(dialect, [{ name: 'tool', inputSchema: written }])).toEqual([]);
      // With a reference to elsewhere nothing can check it.
      if (valid.length === 0) return;
      const [own, given] = [takes(schema), takes(written)];
      for (const args of valid) expect([own(args), given(args)]).toEqual([true, true]);
    },
  );

  test('is the very same where nothing has to change', () => {
    expect(inDialect(dialect, known('plain'))).toBe(known('plain'));
  });
});

describe('what a flattened schema still tells a model', () => {
  const write = (schema: Record<string, unknown>) => inputSchemaFor(gemini.schemas, schema);

  test('which properties belong together', () => {
    const { properties, required, description } = write(known('a discriminator at the root'));
    expect(properties).toMatchObject({
      kind: { type: 'string', enum: ['file', 'url'] },
      path: { type: 'string' },
    });
    expect(required).toEqual(['kind']);
    expect(description).toBe('One of: kind = "file", path | kind = "url", url.');
  });

  test('limits and defaults that the dialect has no words for', () => {
    expect(write(known('closed')).properties).toEqual({
      a: { type: 'integer', description: '(minimum: 1, default: 2)' },
    });
  });

  test('what is cut of a schema that goes on without end', () => {
    const text = JSON.stringify(write(known('a tree')));
    expect(text).toContain('"description":"Once more a Node, as described above."');
    expect(text.match(/"name":/g)).toHaveLength(2);
  });

  test('which kind a value is of, when the other alternative is one that nothing fits', () => {
    expect(write(known('unions below')).properties).toMatchObject({ never: { type: 'integer' } });
  });

  test('what a reference said beside its target', () => {
    expect(write(known('references')).properties).toMatchObject({
      from: { description: 'Where from', type: 'object', properties: { city: { type: 'string' } } },
    });
  });
});

describe('what has no end', () => {
  test('definitions that name each other stay small', () => {
    const text = JSON.stringify(inputSchemaFor(gemini.schemas, known('many of each other')));
    expect(text.length).toBeLessThan(2_000_000);
  });

  test('a schema too deep to be walked through stays as it is', () => {
    let deep: Record<string, unknown> = { type: 'string' };
    for (let level = 0; level < 50_000; level++) deep = { type: 'array', items: deep };
    const schema = { type: 'object', properties: { deep } };
    expect(inputSchemaFor(gemini.schemas, schema)).toBe(schema);
  });
});

test('alternatives below the root that only say what is needed still say it where unions are kept', () => {
  const one = known('either of two needed');
  const { properties } = inputSchemaFor(DIALECTS.opencode.schemas, { type: 'object', properties: { one } });
  expect(properties).toMatchObject({ one: { anyOf: [{ required: ['id'] }, { required: ['name'] }] } });
});

test('a schema that is just true or false becomes one that takes anything', () => {
  const schema = {
    type: 'object',
    properties: { any: true, none: false, list: { type: 'array', items: true } },
  };
  const { properties } = inputSchemaFor(gemini.schemas, schema);
  expect(properties).toEqual({ any: {}, none: {}, list: { type: 'array', items: {} } });
});

test('an output schema loses its references and tuples alone', () => {
  const schema = {
    type: 'object',
    properties: {
      at: { $ref: '#/$defs/At' },
      maybe: { type: ['string', 'null'], minLength: 1 },
      list: { type: 'array' },
    },
    $defs: { At: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false } },
  };
  expect(outputSchemaFor(gemini.schemas, schema)).toEqual({
    type: 'object',
    properties: {
      at: { type: 'array', items: { type: 'number' } },
      maybe: { type: ['string', 'null'], minLength: 1 },
      list: { type: 'array' },
    },
  });
  expect(outputSchemaFor(gemini.schemas, undefined)).toBeUndefined();
});
