// Runs the official MCP conformance suite against a fixture directly and through the orchestrator, and prints every
// check that comes out differently. Exit code 1 when one does that accepted.json does not explain.
// node tests/conformance/run.mjs [--only WAY[/SUITE[/SCENARIO]]] [--keep] [--outputFile FILE]
//   WAY: server side fixture, fixture-stdio, modern-only, legacy-only; client side client-same-era, client-other-era
//   --outputFile writes how many checks were compared and how many of them are no faults, as jest would (CI adds up)
//   --keep leaves what the suite wrote in the folder that is printed
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readAccepted } from './accepted.mjs';
import { clientSide } from './client-side.mjs';
import { serverSide } from './server-side.mjs';
import { differences, faultsOf } from './verdicts.mjs';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    keep: { type: 'boolean' },
    outputFile: { type: 'string' },
    ci: { type: 'boolean' },
    json: { type: 'boolean' },
  },
});
const [onlyWay, onlySuite, onlyScenario] = flags.only?.split('/') ?? [];
const wants = (way, suite) => way === (onlyWay || way) && suite === (onlySuite || suite);
wants.scenario = onlyScenario;

const folder = await mkdtemp(join(tmpdir(), 'mcpbridge-conformance-out-'));
const accepted = await readAccepted();
const rows = [];
const unfit = [];
let compared = 0;
console.log('| Way | Suite | Checks | Different |\n|---|---|---|---|');
for (const side of [serverSide, clientSide]) {
  for await (const { way, suite, direct, through } of side({ folder, wants })) {
    const found = differences(direct.verdicts, through.verdicts);
    const isBetter = (check) =>
      found.some((row) => row.check === check) && accepted.reasonFor(way, suite, check) !== undefined;
    compared += direct.verdicts.size;
    console.log(`| ${way} | ${suite} | ${direct.verdicts.size} | ${found.length} |`);
    rows.push(
      ...found.map((row) => ({ way, suite, ...row, reason: accepted.reasonFor(way, suite, row.check) })),
    );
    unfit.push(...faultsOf(direct, isBetter).map((fault) => `${suite}: ${fault}`));
  }
}
if (rows.length > 0) {
  console.log('\n| Way | Suite | Check | Direct | Through | Accepted because |\n|---|---|---|---|---|---|');
  for (const { way, suite, check, direct, through, reason = '**no reason**' } of rows)
    console.log(`| ${way} | ${suite} | ${check} | ${direct} | ${through} | ${reason} |`);
}
for (const fault of new Set(unfit)) console.log(`Without the orchestrator, ${fault}`);
const stale = flags.only ? [] : accepted.stale();
for (const { check } of stale) console.log(`accepted.json: ${check} is not needed any more; take it out.`);
if (flags.keep) console.log(`\nWritten by the suite: ${folder}`);
else await rm(folder, { recursive: true, force: true });
const unexplained = rows.filter(({ reason }) => reason === undefined);
console.log(`\n${rows.length} checks differ, ${unexplained.length} of them without a reason.`);
const failures = [
  ...unexplained.map(
    ({ way, suite, check, direct, through }) =>
      `${way}/${suite} ${check}: ${direct} directly, ${through} through us`,
  ),
  ...stale.map(({ check }) => `accepted.json: ${check} is not needed any more`),
  ...unfit.map((fault) => `without the orchestrator, ${fault}`),
];
if (flags.outputFile) {
  const numPassedTests = Math.max(0, compared - unexplained.length);
  const numTotalTests = numPassedTests + (compared === 0 ? 1 : failures.length);
  const assertionResults = failures.map((fullName) => ({ fullName, status: 'failed', failureMessages: [] }));
  const report = {
    numPassedTests,
    numTotalTests,
    numRuntimeErrorTestSuites: 0,
    success: failures.length === 0,
    testResults: [{ name: 'conformance', message: '', assertionResults }],
  };
  await writeFile(flags.outputFile, JSON.stringify(report));
}
process.exitCode = failures.length > 0 ? 1 : 0;
