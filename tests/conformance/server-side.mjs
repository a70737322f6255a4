import { join } from 'node:path';
import { startDoorman } from './doorman.mjs';
import { fixtureCommand, startFixture, startOrchestrator } from './processes.mjs';
import { runSuite, SERVER_SUITES } from './suites.mjs';
import { readVerdicts } from './verdicts.mjs';

/** Ways to the fixture through the orchestrator, and the eras of the suite's client that take it. */
const WAYS = [
  { name: 'fixture', eras: ['legacy', 'modern'] },
  { name: 'fixture-stdio', eras: ['legacy', 'modern'] },
  { name: 'modern-only', eras: ['legacy'] },
  { name: 'legacy-only', eras: ['modern'] },
];

/** Runs the suite against the fixture, and again for every way through the orchestrator; gives pairs to compare. */
export async function* serverSide({ folder, wants }) {
  const stops = [];
  const keep = (started) => {
    stops.unshift(started.stop);
    return started;
  };
  try {
    // One of its own, for what one run changes in it would be seen by the other.
    const alone = keep(await startFixture());
    const both = keep(await startFixture());
    const modern = keep(await startFixture('modern'));
    const legacy = keep(await startFixture('legacy'));
    const orchestrator = keep(
      await startOrchestrator({
        fixture: { url: both.url },
        'fixture-stdio': fixtureCommand,
        'modern-only': { url: modern.url },
        'legacy-only': { url: legacy.url },
      }),
    );
    const doorman = keep(await startDoorman(orchestrator.url, orchestrator.token));
    for (const suite of SERVER_SUITES) {
      const ways = WAYS.filter(({ name, eras }) => eras.includes(suite.era) && wants(name, suite.name));
      if (ways.length === 0) continue;
      const runs = ways.map(({ name }) =>
        run(suite, `${doorman.url}/mcp/${name}`, join(folder, name, suite.name), wants.scenario),
      );
      const direct = run(suite, alone.url, join(folder, 'direct', suite.name), wants.scenario);
      for (const [index, { name }] of ways.entries())
        yield { way: name, suite: suite.name, direct: await direct, through: await runs[index] };
    }
  } finally {
    for (const stop of stops) await stop();
  }
}

async function run({ version, all, each }, url, folder, scenario) {
  const choice = scenario ? `--scenario ${scenario} ${each}` : all;
  const written = await runSuite(version, [`conformance server --url ${url} ${choice} -o ${folder}`]);
  return { verdicts: await readVerdicts(folder), written };
}
