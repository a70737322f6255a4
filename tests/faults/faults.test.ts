import { afterAll, beforeAll, expect } from '@jest/globals';
import { TestEngine } from '../docker/support/engine.js';
import { isInstalled } from '../docker/support/install.js';
import { verifies } from '../requirements.js';
import { clientFaults } from './client-faults.js';
import { containerFaults } from './container-faults.js';
import { networkFaults } from './network-faults.js';
import { orchestratorFaults } from './orchestrator-faults.js';
import { serverFaults } from './server-faults.js';
import type { Fault } from './support/fault.js';
import { House } from './support/house.js';
import { randomFrom, shuffled } from './support/random.js';

/**
 * FAULTS_SEED repeats the order of an earlier run, FAULTS_COUNT makes it longer or shorter, FAULTS_ONLY (numbers with commas
 * between them) makes these faults of it alone happen.
 */
const { FAULTS_SEED, FAULTS_COUNT = '200', FAULTS_ONLY } = process.env;
const seed = Number(FAULTS_SEED ?? Math.floor(Math.random() * 1e9));
/** As many at once as two processors bear without being what makes an error late. */
const LANES = 4;
/** No fault takes nearly as long when all is well. */
const LONGEST_MS = 60_000;
/** After so many the house has to be as empty as it was. */
const ROUND = 40;

interface Planned {
  number: number;
  fault: Fault;
}

let engine: TestEngine | undefined;
let house: House;

beforeAll(async () => {
  engine = isInstalled() && process.getuid?.() === 0 ? await TestEngine.start('docker') : undefined;
  house = await House.open(LANES, engine);
});

afterAll(async () => {
  await engine?.stop();
});

/** All kinds equally often, in an order that the seed decides. */
function plan(): Planned[] {
  const kinds = [...serverFaults, ...clientFaults, ...networkFaults, ...orchestratorFaults];
  if (engine) kinds.push(...containerFaults);
  const random = randomFrom(seed);
  const count = Number(FAULTS_COUNT);
  const faults: Fault[] = [];
  while (faults.length < count) faults.push(...shuffled(kinds, random));
  const all = faults.slice(0, count).map((fault, number) => ({ number, fault }));
  const only = FAULTS_ONLY?.split(',').map(Number);
  return all.filter(({ number }) => only?.includes(number) ?? true);
}

const failures: string[] = [];

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It was not over after ${ms / 1000} s.`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function report({ number, fault }: Planned, what: string): void {
  const again = `FAULTS_SEED=${seed} FAULTS_COUNT=${FAULTS_COUNT} FAULTS_ONLY=${number} npm run test:faults`;
  failures.push(`${number} (${fault.name}): ${what}\n    ${again}`);
}

/** Each lane takes the next fault when its own is over. */
async function carryOut(round: readonly Planned[]): Promise<void> {
  const waiting = [...round];
  await Promise.all(
    house.lanes.map(async (lane) => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const planned = next;
        await within(LONGEST_MS, planned.fault.run({ house, lane })).catch((error) =>
          report(planned, error instanceof Error ? error.message : String(error)),
        );
      }
    }),
  );
  const numbers = round.map(({ number }) => number).join(',');
  const left = await within(LONGEST_MS, house.leftovers()).catch((error) => [String(error)]);
  const others = [...house.complaints(), ...left];
  for (const what of others) failures.push(`during ${numbers} with seed ${seed}: ${what}`);
}

verifies(
  'faults.survived',
  async () => {
    const planned = plan();
    console.log(
      `${planned.length} faults, FAULTS_SEED=${seed}${engine ? '' : ', without a container engine'}`,
    );
    for (let start = 0; start < planned.length; start += ROUND)
      await carryOut(planned.slice(start, start + ROUND));
    failures.push(...(await house.close()));
    expect(failures.join('\n')).toBe('');
    expect(house.watchedCalls).toBeGreaterThan(planned.length);
  },
  900_000,
);
