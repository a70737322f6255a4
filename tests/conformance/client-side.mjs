import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENT_SUITES, runSuite } from './suites.mjs';
import { readVerdicts } from './verdicts.mjs';

const DRIVER = fileURLToPath(new URL('driver.mjs', import.meta.url));
/** By the era of the driver's own client; that of the suite's servers is the suite's. */
const WAYS = {
  'client-same-era': (era) => era,
  'client-other-era': (era) => (era === 'modern' ? 'legacy' : 'modern'),
};

/** Runs the driver against the suite's servers, and again with the orchestrator between; gives pairs to compare. */
export async function* clientSide({ folder, wants }) {
  for (const suite of CLIENT_SUITES) {
    const ways = Object.keys(WAYS)
      .filter((name) => wants(name, suite.name))
      .filter((name) => !suite.isOfOneEra || WAYS[name](suite.era) === suite.era);
    if (ways.length === 0) continue;
    const direct = run(suite, join(folder, 'direct-client', suite.name), wants.scenario, {
      DRIVER_ERA: suite.era,
    });
    const runs = ways.map((name) =>
      run(suite, join(folder, name, suite.name), wants.scenario, {
        DRIVER_ERA: WAYS[name](suite.era),
        DRIVER_THROUGH: 'orchestrator',
      }),
    );
    for (const [index, name] of ways.entries())
      yield { way: name, suite: suite.name, direct: await direct, through: await runs[index] };
  }
}

async function run({ version, each, scenarios }, folder, scenario, env) {
  const chosen = scenarios.filter((name) => scenario === undefined || name === scenario);
  // An absolute path: `node` alone would be the one that the suite needs.
  const driver = `${process.execPath} ${DRIVER}`;
  const commands = chosen.map(
    (name) => `conformance client --command "${driver}" --scenario ${name} ${each} -o ${folder}`,
  );
  const written = await runSuite(version, commands, env);
  const verdicts = await readVerdicts(folder);
  // Checks are made at each connection or request, and one client has as many of these as it needs.
  for (const [check, statuses] of verdicts) verdicts.set(check, [...new Set(statuses)]);
  return { verdicts, written };
}
