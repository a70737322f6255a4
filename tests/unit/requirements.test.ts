import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { requirements } from '../requirements.js';
import { root } from '../support/processes.js';

const sources = readdirSync(join(root, 'tests'), { recursive: true })
  .map(String)
  // Suites that several tests run are functions of their own.
  .filter((file) => /([.]test|\bdescribe-[a-z-]+)[.]ts$/.test(file))
  .map((file) => readFileSync(join(root, 'tests', file), 'utf8'))
  .join('\n');

test('every promise is verified by a test', () => {
  const unverified = Object.keys(requirements).filter(
    (id) => !new RegExp(`verifies\\(\\s*'${id}'`).test(sources),
  );
  expect(unverified).toEqual([]);
});

test('no test is switched off', () => {
  expect(sources).not.toMatch(/\b(test|describe|it)\.(skip|only|todo)\(/);
});
