import { expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { useAgentHouse } from '../support/agent.js';
import { brainOf, type ModelAnswer, type ModelQuestion } from '../support/model-api.js';
import { ended, eventually } from '../support/processes.js';

const ROUNDS = 20;
const STEPS = 10;
const SEED = Number(process.env.AGENT_SEED ?? Date.now() % 1_000_000);

const { house, model } = useAgentHouse((server) => brainOf('anthropic', server), { STEP_MS: '10' });

/**
 * A careful model, as far as ten steps go: one after the other, and where it is told that nobody knows whether one was
 * carried out, it looks into the ledger first. It keeps nothing: whatever it is asked again it answers in the same way.
 */
function nextStep({ body, results }: ModelQuestion): ModelAnswer {
  const from = Number(/after line (\d+)/.exec(JSON.stringify(body.messages[0].content))?.[1]);
  let done = 0;
  let inDoubt = false;
  for (const text of results) {
    if (
      inDoubt
        ? text
            .split('\n')
            .slice(from)
            .includes(`step_${done + 1}`)
        : / is done$/.test(text)
    )
      done += 1;
    inDoubt = /may or may not/.test(text);
  }
  if (inDoubt) return { calls: [{ tool: 'ledger__read_ledger', args: {} }] };
  if (done >= STEPS) return { text: `All ${STEPS} steps are done.` };
  return { calls: [{ tool: `ledger__step_${done + 1}`, args: {} }] };
}

verifies(
  'agent.crash',
  async () => {
    model.answer = nextStep;
    const random = randomFrom(SEED);
    let inDoubt = 0;
    let early = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const before = house.ledger.length;
      const { run_id: id } = await house.begin(`Do all ten steps, after line ${before}.`);
      // After so many steps and a moment more, so that it does not depend on how busy the machine is.
      const after = before + Math.floor(random() * STEPS);
      await eventually('so many steps are done', () => house.ledger.length >= after, 30_000);
      await new Promise((next) => setTimeout(next, random() * 60));
      house.running.process.kill('SIGKILL');
      await ended(house.running.process);
      early += house.ledger.length - before;
      await house.again({}, true);
      const run = await eventually('the run has ended', async () => {
        const now = await house.run(id);
        return now.state === 'running' ? undefined : now;
      });
      const told = {
        round,
        seed: SEED,
        state: run.state,
        error: run.error,
        steps: house.ledger.slice(before),
      };
      expect(told).toEqual({
        ...told,
        state: 'done',
        error: undefined,
        steps: Array.from({ length: STEPS }, (_, index) => `step_${index + 1}`),
      });
      const { entries } = await house.send('GET', `/api/agent/conversations/${run.conversation_id}`);
      inDoubt += entries.filter((entry: { code?: string }) => entry.code === 'OUTCOME_UNKNOWN').length;
    }
    console.log(
      `seed ${SEED}: ${ROUNDS} kills, ${early} steps done before them, ${inDoubt} calls of which nobody could know`,
    );
  },
  600_000,
);

const killed = async () => {
  house.running.process.kill('SIGKILL');
  await ended(house.running.process);
  await house.again();
};

const ending = (id: string) =>
  eventually('the run has ended', async () => {
    const run = await house.run(id);
    return run.state === 'running' ? undefined : run;
  });

test('a plan whose steps run at once goes on after each of two kills', async () => {
  const plan = {
    steps: [
      { id: 1, task: 'do step 1' },
      { id: 2, task: 'do step 2' },
      { id: 3, task: 'do step 3', after: [1, 2] },
    ],
  };
  model.answer = ({ all, results, tools }) => {
    if (tools.length === 0)
      return { text: all.includes('Write a plan') ? JSON.stringify(plan) : 'All three.' };
    const number = /Your step: do step (\d)/.exec(all)?.[1];
    const known = results.filter((text) => !/may or may not/.test(text));
    if (known.length > 0) return { text: `${known.at(-1)}` };
    if (results.length > 0) return { calls: [{ tool: 'ledger__read_ledger', args: {} }] };
    return { calls: [{ tool: `ledger__step_${number}`, args: { ms: 150 } }] };
  };
  const before = house.ledger.length;
  const { run_id: id } = await house.begin('Go.', { strategy: 'plan' });
  for (const steps of [1, 3]) {
    await eventually('so many steps are at the server', () => house.ledger.length - before >= steps);
    await killed();
  }
  expect(await ending(id)).toMatchObject({ state: 'done', answer: 'All three.' });
  const done = house.ledger.slice(before).map((line) => line.split(' ')[0]);
  expect(done.slice(0, 2).sort()).toEqual(['step_1', 'step_2']);
  expect(done.slice(2)).toEqual(['step_3']);
});

test('an orchestrator that is stopped lets the call finish, and takes the run up at its next start', async () => {
  model.answer = ({ results }) =>
    results.length < 2
      ? { calls: [{ tool: `ledger__step_${results.length + 1}`, args: { ms: 500 } }] }
      : { text: results.join() };
  const before = house.ledger.length;
  const { run_id: id } = await house.begin('Go.');
  await eventually('the first step is at the server', () => house.ledger.length > before);
  house.running.process.kill('SIGTERM');
  await ended(house.running.process);
  expect(house.ledger.length - before).toBe(1);
  await house.again();
  expect(await ending(id)).toMatchObject({ state: 'done', answer: 'step_1 is done,step_2 is done' });
  expect(house.ledger.length - before).toBe(2);
});

/** mulberry32 */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
