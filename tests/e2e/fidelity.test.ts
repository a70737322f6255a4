import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended, fixture, root } from '../support/processes.js';
import { startBridge } from '../support/road.js';
import { StdioPeer } from '../support/stdio-peer.js';
import { DIFFERENCES, type Difference } from './fidelity-differences.js';
import { talkLegacy } from './fidelity-legacy.js';
import { talkModern } from './fidelity-modern.js';
import { Talk } from './fidelity-talk.js';
import { serverFrames, type View } from './fidelity-views.js';

const file = fixture('fidelity-server.mjs');
const TALKS = { legacy: talkLegacy, modern: talkModern };
const ERAS = ['legacy', 'modern'] as const;
type EraName = (typeof ERAS)[number];

let folder: string;
let running: RunningOrchestrator;
const direct = {} as Record<EraName, View>;
const through = {} as Record<EraName, View>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-fidelity-'));
  const records = { legacy: await record(), modern: await record() };
  running = await startOrchestrator({
    servers: Object.fromEntries(
      ERAS.map((ERA) => [
        ERA,
        { command: process.execPath, args: [file], env: { ERA, RECORD_DIR: records[ERA] } },
      ]),
    ),
  });
  for (const ERA of ERAS) {
    const RECORD_DIR = await record();
    direct[ERA] = await hold(ERA, StdioPeer.start(file, { ERA, RECORD_DIR }), RECORD_DIR);
    const bridge = startBridge(running, { MCP_API_URL: `${running.url}/mcp/${ERA}` });
    through[ERA] = await hold(ERA, bridge, records[ERA]);
  }
}, 120_000);
afterAll(async () => {
  await running.stop();
  await rm(folder, { recursive: true, force: true });
});

const record = () => mkdtemp(join(folder, 'record-'));

async function hold(era: EraName, peer: StdioPeer, recordDir: string): Promise<View> {
  const talk = new Talk(peer);
  await TALKS[era](talk);
  peer.close();
  await ended(peer.process);
  return { client: talk.steps, server: serverFrames(recordDir) };
}

function without(differences: Difference[], view: View): View {
  return differences.reduce((left, difference) => difference.remove(left), view);
}

/** Both ends' views, direct and through us, less what may differ. */
const compare = (era: EraName, differences: Difference[]) => ({
  direct: without(differences, direct[era]),
  through: without(differences, through[era]),
});

describe('a client behind bridge and orchestrator', () => {
  verifies('fidelity.legacy', () => {
    const views = compare('legacy', DIFFERENCES);
    expect(views.through.client).toEqual(views.direct.client);
    expect(views.through.server).toEqual(views.direct.server);
  });

  verifies('fidelity.modern', () => {
    const views = compare('modern', DIFFERENCES);
    expect(views.through.client).toEqual(views.direct.client);
    expect(views.through.server).toEqual(views.direct.server);
  });

  test.each(ERAS)('was in fact told everything that the %s conversation asks for', (era) => {
    for (const { name, frames } of direct[era].client) expect([name, frames.length]).not.toEqual([name, 0]);
    expect(direct[era].server.length).toBeGreaterThan(20);
  });

  test.each(DIFFERENCES.filter(({ mayBeMissing }) => !mayBeMissing))(
    'still sees the difference "$name", which could else be struck from the list',
    (difference) => {
      const others = DIFFERENCES.filter((other) => other !== difference);
      const views = ERAS.map((era) => compare(era, others));
      expect(views.map((view) => view.through)).not.toEqual(views.map((view) => view.direct));
    },
  );
});

test('docs/fidelity.md lists exactly the differences that the comparison allows', () => {
  const rows = readFileSync(`${root}/docs/fidelity.md`, 'utf8')
    .split('## What differs')[1]
    ?.split('\n## ')[0]
    ?.split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Difference'));
  expect(rows).toEqual(DIFFERENCES.map(({ name, reason }) => `| ${name} | ${reason} |`));
});
