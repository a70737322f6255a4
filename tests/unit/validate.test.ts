import { describe, expect, test } from '@jest/globals';
import { linearPattern, patternsReady } from '@mcpbridge/orchestrator/calls/linear-pattern.js';
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

describe('patterns of schemas that are not ours', () => {
  const check = (pattern: string, more: object = {}) =>
    compileSchema(
      { type: 'object', properties: { a: { type: 'string', pattern, ...more } } },
      { patterns: linearPattern },
    );
  /** Thirty letters and no end: in V8's own engine the first of these takes minutes, the last one an hour. */
  const bomb = `${'a'.repeat(20_000)}!`;

  test.each(['(a+)+$', '(a|a)*$', '^(a|aa)+$', 'a*a*a*a*b', '(?:a+)*c', '^(([a-z])+.)+[A-Z]([a-z])+$'])(
    '%s is tried in linear time, and what does not fit is told',
    async (pattern) => {
      await patternsReady();
      const run = check(pattern);
      expect(run({ a: bomb }).length + run({ a: 'b c' }).length).toBeLessThanOrEqual(2);
    },
  );

  test('what fits fits, what does not does not, plain or not', async () => {
    await patternsReady();
    for (const [pattern, good, bad] of [
      ['^[a-z0-9-]+$', 'abc-1', 'ABC'],
      ['^\\d{4}-\\d{2}-\\d{2}$', '2026-11-30', '2026-11'],
      ['^([a-z]+\\.)+[a-z]{2,}$', 'a.example', 'a..example'],
      ['^\\p{L}+( \\p{L}+)*$', 'Zoë Ünal', 'R2 D2'],
      ['^(?<year>\\u0032\\d+)+$', '2026', '1999'],
    ] as const) {
      const run = check(pattern);
      expect([pattern, run({ a: good }), run({ a: bad })]).toEqual([
        pattern,
        [],
        [expect.stringContaining('must match pattern')],
      ]);
    }
  });

  test('one that cannot be tried in linear time is left to the server', async () => {
    await patternsReady();
    expect(check('^(?!b)(a+)+$')({ a: bomb })).toEqual([]);
    expect(check('^(a+)\\1+$')({ a: bomb })).toEqual([]);
  });

  test('names of properties are tried in the same way', async () => {
    await patternsReady();
    const run = compileSchema(
      { type: 'object', patternProperties: { '^(x+)+$': { type: 'number' } } },
      { patterns: linearPattern },
    );
    expect(run({ [`${'x'.repeat(5000)}!`]: '', xx: 'no number' })).toEqual([
      '/xx: must be number, got string',
    ]);
  });
});
