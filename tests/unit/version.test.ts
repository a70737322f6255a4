import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { VERSION } from '@mcpbridge/orchestrator/version.js';
import { root } from '../support/processes.js';

test('the version that the program tells is that of its package', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'packages/orchestrator/package.json'), 'utf8'));
  expect(VERSION).toBe(version);
});
