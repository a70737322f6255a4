// Runs the README's test command and all the suites beside it, then adds up: a skipped test is a failed one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = join(root, '.cache');
mkdirSync(folder, { recursive: true });
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * One after the other; those that mostly wait, for a download or a pause of the suite, side by side. Not the dashboard
 * beside containers: a browser notices each network that comes and goes.
 */
const GROUPS = [
  ['test'],
  ['test:faults', 'test:docker', 'soak'],
  ['test:dashboard'],
  ['test:clients', 'test:conformance'],
];

let passed = 0;
let failed = 0;
/** Each with the beginning of what it said, told once more at the end, where it is looked for. */
const failures = [];
await build();
for (const group of GROUPS) await Promise.all(group.map(run));
for (const failure of failures) console.error(`\n${failure}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);

async function build() {
  const [code] = await once(
    spawn('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }),
    'close',
  );
  if (code !== 0) process.exit(1);
}

async function run(script) {
  const begun = performance.now();
  const report = join(folder, `${script.replace(':', '-')}.json`);
  rmSync(report, { force: true });
  // Its command without `npm run`, which would build before each: beside a test that takes away what it runs.
  const [, ...command] = scripts[script].split(' ');
  const child = spawn(process.execPath, [...command, '--ci', '--json', `--outputFile=${report}`], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'close');
  add(script, report, code);
  console.error(`${script}: ${Math.round((performance.now() - begun) / 1000)} s`);
}

function add(script, report, code) {
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'));
    passed += result.numPassedTests;
    failed += result.numTotalTests - result.numPassedTests + result.numRuntimeErrorTestSuites;
    failures.push(...failuresOf(result).map((failure) => `npm run ${script}: ${failure}`));
    if (code !== 0 && result.success) {
      failures.push(`npm run ${script}: all its tests passed, and it ended with ${code}`);
      failed += 1;
    }
  } catch (error) {
    failures.push(`npm run ${script} left no report: ${error.message}`);
    failed += 1;
  }
}

function failuresOf({ testResults = [] }) {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const tests = assertionResults.filter(({ status }) => status !== 'passed');
    if (tests.length === 0 && message) return [`${name}\n${beginningOf(message)}`];
    return tests.map(({ fullName, status, failureMessages }) =>
      `${fullName} (${status})\n${beginningOf(failureMessages.join('\n'))}`.trimEnd(),
    );
  });
}

function beginningOf(text) {
  return text.split('\n').slice(0, 8).join('\n').slice(0, 1000);
}
