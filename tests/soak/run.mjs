// `npm run soak -- --minutes N`: 30 by itself, 2 in CI (`--ci`). What else is given goes to jest.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const args = process.argv.slice(2);
const at = args.indexOf('--minutes');
const [, given] = at < 0 ? [] : args.splice(at, 2);
const minutes = Number(given ?? (args.includes('--ci') ? 2 : 30));
if (!(minutes >= 1)) {
  console.error('--minutes takes a number from 1 up.');
  process.exit(2);
}
const root = join(import.meta.dirname, '../..');
const jest = ['--experimental-vm-modules', join(root, 'node_modules/jest/bin/jest.js')];
const { status } = spawnSync(
  process.execPath,
  [...jest, '--config', join(import.meta.dirname, 'jest.config.js'), ...args],
  {
    cwd: root,
    env: { ...process.env, SOAK_MINUTES: String(minutes) },
    stdio: 'inherit',
  },
);
process.exit(status ?? 1);
