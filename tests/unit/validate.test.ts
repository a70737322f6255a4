import { describe, expect, test } from '@jest/globals';
import { compileSchema } from '@mcpbridge/shared/validate.js';

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';

describe('a schema', () => {
  test('is read in the dialect that it names, and in 2020-12 when it names none', () => {
    const pair = [{ type: 'string' }, { type: 'number' }];
    const wrong = { pair: [1, 2] };
    expect(compileSchema({ properties: { pair: { prefixItems: pair } } })(wrong)).toHaveLength(1);
    expect(
      compileSchema({ $schema: DRAFT_2020, properties: { pair: { prefixItems: pair } } })(wrong),
    ).toHaveLength(1);
    expect(compileSchema({ $schema: DRAFT_07, properties: { pair: { items: pair } } })(wrong)).toHaveLength(
      1,
    );
    expect(compileSchema({ $schema: DRAFT_07, properties: { pair: { prefixItems: pair } } })(wrong)).toEqual(
      [],
    );
  });

  test('of an unknown dialect is an error, not a silent yes', () => {
    expect(() => compileSchema({ $schema: 'https://example.org/my-dialect' })).toThrow('is not known here');
  });

  test('is not confused with another one of the same $id', () => {
    const first = compileSchema({ $id: 'urn:same', properties: { a: { type: 'string' } } });
    const second = compileSchema({ $id: 'urn:same', properties: { a: { type: 'number' } } });
    expect([first({ a: 'x' }), second({ a: 'x' }).length]).toEqual([[], 1]);
  });

  test('may refer to its own parts and to itself', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: { node: { properties: { next: { $ref: '#/$defs/node' }, value: { type: 'number' } } } },
    };
    expect(compileSchema(tree)({ next: { next: { value: 'x' } } })).toEqual([
      '/next/next/value: must be number, got string',
    ]);
    const whole = { properties: { next: { $ref: '#' }, value: { type: 'number' } } };
    expect(compileSchema(whole)({ next: { next: { value: 'x' } } })).toEqual([
      '/next/next/value: must be number, got string',
    ]);
    const shared = { properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' } } };
    expect(compileSchema({ $schema: DRAFT_07, ...shared })({ b: 1 })).toEqual([
      '/b: must be string, got number',
    ]);
  });
});

describe('a schema whose check would not end', () => {
  const twice = ($ref: string) => ({ allOf: [{ $ref }, { $ref }] });
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [`d${index}`, index < 39 ? twice(`#/$defs/d${index + 1}`) : {}]),
  );
  test.each([
    ['refers to itself at one and the same place', { $ref: '#' }],
    [
      'does so by two steps',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, not: { $ref: '#/$defs/a' } },
    ],
    ['does so by an anchor', { $dynamicAnchor: 'n', anyOf: [{ $dynamicRef: '#n' }, {}] }],
    ['does so by an address', { $defs: { a: { $id: 'urn:a', not: { $ref: 'urn:a' } } }, $ref: 'urn:a' }],
    ['does so far below', { properties: { x: { items: { not: { $ref: '#/properties/x/items' } } } } }],
    ['doubles at every step', { $defs: doubling, ...twice('#/$defs/d0') }],
    ['is very large', { description: 'x'.repeat(200_000) }],
  ])('is refused when it %s', (_how, schema) => {
    expect(() => compileSchema(schema)).toThrow('too large, or branches without end');
  });
});

describe('a fault', () => {
  test('names the path and what was expected, and never the value', () => {
    const check = compileSchema({
      type: 'object',
      properties: {
        mode: { enum: ['r', 'w'] },
        deep: { type: 'object', properties: { 'a/b': { type: 'integer' } } },
      },
      required: ['path'],
      additionalProperties: false,
    });
    const faults = check({ mode: 'secret-value', deep: { 'a/b': 'secret-value' }, extra: 'secret-value' });
    expect(faults.sort()).toEqual([
      '(root): has an unknown property "extra"',
      "(root): must have required property 'path'",
      '/deep/a~1b: must be integer, got string',
      '/mode: must be one of ["r","w"]',
    ]);
  });
});
