import { eventually } from '../support/processes.js';
import { callerFor, type Fault, failsAtOnce, type Scene, works } from './support/fault.js';
import { GONE_WITHIN_MS } from './support/house.js';

/** One at a time: nothing but its age tells whose a container is. */
let turn: Promise<void> = Promise.resolve();

function inTurn(run: (scene: Scene) => Promise<void>): (scene: Scene) => Promise<void> {
  return (scene) => {
    const mine = turn.then(() => run(scene));
    turn = mine.catch(() => {
      // Whoever made this fault happen reports it.
    });
    return mine;
  };
}

async function kill(scene: Scene, inCall: boolean): Promise<void> {
  const { engine } = scene.house;
  if (!engine) throw new Error('There is no container engine.');
  const ids = async () => (await engine.containers()).map(({ Id }) => Id);
  const caller = await callerFor(scene, 'HTTP');
  const before = await ids();
  await works(caller, 'box');
  const [own = ''] = (await ids()).filter((id) => !before.includes(id));
  const call = inCall ? caller.call('box', 'hang') : undefined;
  // By the same pipe: the call before it has arrived.
  if (inCall) await works(caller, 'box');
  const cause = performance.now();
  await engine.kill(own);
  if (call) await failsAtOnce(call, 'CONNECTION_LOST', cause);
  const gone = (id: string) =>
    eventually('the container is gone', async () => !(await ids()).includes(id), GONE_WITHIN_MS);
  await gone(own);
  await works(caller, 'box');
  await caller.leave();
  await eventually('no container is left', async () => (await ids()).length <= before.length, GONE_WITHIN_MS);
}

export const containerFaults: Fault[] = [
  { name: 'kill -9 of a container in mid-call', run: inTurn((scene) => kill(scene, true)) },
  { name: 'kill -9 of an idle container', run: inTurn((scene) => kill(scene, false)) },
];
