// Runs the README's test command, the container engines and the real clients, then adds up: a skipped test is a failed one.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = join(root, '.cache');
mkdirSync(folder, { recursive: true });

let passed = 0;
let failed = 0;
for (const script of ['test', 'test:docker', 'test:clients']) {
  const report = join(folder, `${script.replace(':', '-')}.json`);
  rmSync(report, { force: true });
  const run = spawnSync('npm', ['run', script, '--', '--ci', '--json', `--outputFile=${report}`], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'));
    passed += result.numPassedTests;
    failed += result.numTotalTests - result.numPassedTests + result.numRuntimeErrorTestSuites;
    if (run.status !== 0 && result.success) failed += 1;
  } catch (error) {
    console.error(`npm run ${script} left no report: ${error.message}`);
    failed += 1;
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
