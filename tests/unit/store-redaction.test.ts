import { describe, expect, test } from '@jest/globals';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import { holdsSecret, isSecretName, mayHoldSecret, redactByKey } from '@mcpbridge/shared/redact.js';
import { secretHider } from '@mcpbridge/shared/secrets.js';

describe('secrets by name', () => {
  test.each([
    ...[
      'password',
      'Password',
      'PASSWD',
      'db_password',
      'userPwd',
      'passphrase',
      'client_secret',
      'clientSecret',
    ],
    ...[
      'token',
      'access_token',
      'accessToken',
      'ACCESS-TOKEN',
      'apikey',
      'api_key',
      'api-key',
      'ApiKey',
      'x-api-key',
    ],
    ...[
      'Authorization',
      'proxy-authorization',
      'cookie',
      'Set-Cookie',
      'credentials',
      'aws_secret_access_key',
    ],
    ...['private_key', 'auth', 'jwt', 'bearer', 'connectionString'],
  ])('%s holds one', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(redactByKey({ [name]: 'canary' })).toEqual({ [name]: '[redacted]' });
  });

  test.each(['author', 'path', 'key', 'keyboard', 'monkey', 'pass', 'compass', 'session', 'id', 'oauth'])(
    '%s holds none',
    (name) => {
      expect(isSecretName(name)).toBe(false);
    },
  );
});

describe('redaction', () => {
  test('reaches objects and lists at any depth and takes whole values away', () => {
    expect(
      redactByKey({ a: [{ b: { token: { deep: 'canary' } } }], headers: { cookie: ['canary'] } }),
    ).toEqual({
      a: [{ b: { token: '[redacted]' } }],
      headers: { cookie: '[redacted]' },
    });
  });

  test('leaves what cannot be a secret: counts of tokens, switches, nothing', () => {
    const value = { max_tokens: 100, useToken: true, password: null };
    expect(redactByKey(value)).toEqual(value);
    expect(redactByKey({ password: 1234 })).toEqual({ password: '[redacted]' });
  });

  test('does not change what was given', () => {
    const value = { token: 'x', list: [{ token: 'y' }] };
    redactByKey(value);
    expect(value).toEqual({ token: 'x', list: [{ token: 'y' }] });
  });

  test('a name that is the word for a prototype stays a name', () => {
    const value = JSON.parse('{"__proto__": {"token": "canary", "a": 1}}');
    expect(JSON.stringify(redactByKey(value))).toBe('{"__proto__":{"token":"[redacted]","a":1}}');
  });

  test('ends on values that hold themselves, and at the given length', () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(JSON.stringify(redactByKey(loop))).toContain('too deep');
    expect(redactByKey({ a: 'x'.repeat(100), b: 'y' }, { characters: 50 })).toEqual({ a: 'x'.repeat(48) });
    expect(JSON.stringify(redactByKey(Array(10_000).fill(0), { characters: 50 })).length).toBeLessThan(110);
  });
});

describe('a JSON text that is not read', () => {
  const hide = secretHider(['canary "of\nthree', 'simple-canary']);
  const names = [
    'a',
    'tokens',
    'api_key',
    'p.a.s.s.w.d',
    'pwd"',
    'pass\nwd',
    'x"y',
    'to\\ken',
    'author',
    '":',
    '',
  ];
  const texts = [
    '',
    'plain',
    '":"',
    '\\',
    '{"token":"x"}',
    'canary "of\nthree',
    'simple-canary',
    'ghp_'.padEnd(44, 'a'),
  ];
  // Always the same ones: a linear congruential generator.
  let state = 1;
  const upTo = (count: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % count;
  };
  const made = (depth: number): unknown => {
    const kind = upTo(depth > 0 ? 6 : 4);
    if (kind < 2) return texts[upTo(texts.length)];
    if (kind < 4) return [1, true, null, -0.5][upTo(4)];
    const items = Array.from({ length: upTo(4) }, () => made(depth - 1));
    return kind === 4 ? items : Object.fromEntries(items.map((item) => [names[upTo(names.length)], item]));
  };

  test('is taken for plain only when its value is', () => {
    let plain = 0;
    for (let n = 0; n < 20_000; n += 1) {
      const value = made(4);
      const json = JSON.stringify(value);
      if (mayHoldSecret(json, hide)) continue;
      plain += 1;
      if (holdsSecret(value, hide)) throw new Error(`There is a secret in ${json}`);
    }
    expect(plain).toBeGreaterThan(1000);
  });

  test('is taken for plain when it is an ordinary one, and not when it is deep', () => {
    expect(mayHoldSecret('{"path":"a/b.txt","lines":[1,2],"author":{"name":"x: \\"y\\""}}', hide)).toBe(
      false,
    );
    expect(mayHoldSecret(`${'['.repeat(40)}${']'.repeat(40)}`, hide)).toBe(true);
  });
});

test('ids made later sort later and are UUIDs of version 7', () => {
  const ids = [1, 1_700_000_000_000, 1_800_000_000_000].map((now) => timeOrderedId(now));
  expect([...ids].reverse().sort()).toEqual(ids);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  const atOnce = Array.from({ length: 4096 }, () => timeOrderedId(5));
  expect([...atOnce].sort()).toEqual(atOnce);
  // More than can be told apart by their order are still all different.
  expect(new Set(Array.from({ length: 10_000 }, () => timeOrderedId(6))).size).toBe(10_000);
});

/** Nested so often in lists. */
const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)]);

describe('whether a value needs a redacted copy', () => {
  const hide = secretHider(['canary-canary']);
  test.each<[string, unknown]>([
    ['a plain value', { text: 'hello', list: [1, true, null, { name: 'x' }] }],
    ['a plain text', 'hello'],
    ['counts of tokens', { max_tokens: 5, usage: { tokens: 7 } }],
    ['a known secret', { list: ['x', { text: 'with canary-canary inside' }] }],
    ['a known secret as a name', { 'canary-canary': 1 }],
    ['what looks like a secret', ['Bearer abcdefghijklmnop']],
    ['the name of a secret', { headers: [{ api_key: 'x' }] }],
    ['the name of a secret before nothing', { password: null, token: false }],
    ['what is as deep as a copy goes', nested(31)],
    ['what is deeper than a copy goes', nested(33)],
    ['a name that is a prototype', JSON.parse('{"__proto__": {"secret": "x"}}')],
  ])('is told of %s as the copy would show it', (_what, value) => {
    const same = JSON.stringify(redactByKey(value, { hide })) === JSON.stringify(value);
    expect(holdsSecret(value, hide)).toBe(!same);
  });
});
