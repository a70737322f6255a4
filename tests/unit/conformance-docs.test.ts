import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../support/processes.js';

interface Accepted {
  check: string;
  reason: string;
}

test('docs/conformance.md tells every check that comes out differently, with the reason', () => {
  const accepted: Accepted[] = JSON.parse(
    readFileSync(join(root, 'tests/conformance/accepted.json'), 'utf8'),
  );
  const rows = readFileSync(join(root, 'docs/conformance.md'), 'utf8').matchAll(
    /^\| `([^`]+:[^`]+|[^`]+\*)` \| [^|]+ \| (.+) \|$/gm,
  );
  const documented = [...rows].map(([, check, reason]) => ({ check, reason }));
  expect(documented).toEqual(accepted.map(({ check, reason }) => ({ check, reason })));
});
