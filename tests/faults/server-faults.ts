import { HttpCaller } from './support/callers.js';
import {
  allGone,
  callerFor,
  type Fault,
  failsAtDeadline,
  failsAtOnce,
  type How,
  newMark,
  pidOf,
  type Scene,
  works,
} from './support/fault.js';

/** More than a pipe and our own buffers hold. */
const LONG = 'x'.repeat(400_000);

async function killInCall(scene: Scene, how: How): Promise<void> {
  const caller = await callerFor(scene, how);
  const pid = await pidOf(caller, 'stdio');
  const { mark, began } = newMark();
  const call = caller.call('stdio', 'hang', { mark });
  await began();
  const cause = performance.now();
  process.kill(pid, 'SIGKILL');
  await failsAtOnce(call, 'CONNECTION_LOST', cause);
  const next = await pidOf(caller, 'stdio');
  await caller.leave();
  await allGone('the server', [pid, next]);
}

async function killIdle(scene: Scene, how: How): Promise<void> {
  const caller = await callerFor(scene, how);
  const pid = await pidOf(caller, 'stdio');
  process.kill(pid, 'SIGKILL');
  await allGone('the server', [pid]);
  const next = await pidOf(caller, 'stdio');
  await caller.leave();
  await allGone('the server', [next]);
}

async function killShared(scene: Scene, inCall: boolean): Promise<void> {
  const { house, lane } = scene;
  const callers = [new HttpCaller(house.running), await callerFor(scene, 'bridge')];
  const pid = await pidOf(callers[0] as HttpCaller, lane.shared);
  const marks = callers.map(() => newMark());
  const calls = inCall
    ? callers.map((caller, at) => caller.call(lane.shared, 'hang', { mark: marks[at]?.mark }))
    : [];
  if (inCall) await Promise.all(marks.map(({ began }) => began()));
  const cause = performance.now();
  process.kill(pid, 'SIGKILL');
  await Promise.all(calls.map((call) => failsAtOnce(call, 'CONNECTION_LOST', cause)));
  if (!inCall) await allGone('the server', [pid]);
  await Promise.all(callers.map((caller) => works(caller, lane.shared)));
  await Promise.all(callers.map((caller) => caller.leave()));
}

async function stopInCall(scene: Scene, how: How): Promise<void> {
  const caller = await callerFor(scene, how);
  const pid = await pidOf(caller, 'stdio');
  const { mark, began } = newMark();
  const call = caller.call('stdio', 'hang', { mark });
  await began();
  process.kill(pid, 'SIGSTOP');
  await failsAtDeadline(call);
  await allGone('the stopped server', [pid]);
  const next = await pidOf(caller, 'stdio');
  await caller.leave();
  await allGone('the server', [next]);
}

async function stopIdle(scene: Scene, how: How): Promise<void> {
  const caller = await callerFor(scene, how);
  const pid = await pidOf(caller, 'stdio');
  process.kill(pid, 'SIGSTOP');
  await failsAtDeadline(caller.call('stdio', 'echo'));
  await allGone('the stopped server', [pid]);
  await works(caller, 'stdio');
  await caller.leave();
}

/** Its caller leaves instead of waiting. */
async function stopAndLeave(scene: Scene): Promise<void> {
  const caller = await callerFor(scene, 'HTTP');
  const pid = await pidOf(caller, 'stubborn');
  process.kill(pid, 'SIGSTOP');
  await caller.leave();
  await allGone('the stopped server', [pid]);
}

async function stopReading(scene: Scene, how: How): Promise<void> {
  const caller = await callerFor(scene, how);
  const pid = await pidOf(caller, 'stdio');
  await works(caller, 'stdio', 'deaf');
  await Promise.all([1, 2].map(() => failsAtDeadline(caller.call('stdio', 'echo', { text: LONG }))));
  await allGone('the deaf server', [pid]);
  await works(caller, 'stdio');
  await caller.leave();
}

const ways: How[] = ['HTTP', 'bridge'];

export const serverFaults: Fault[] = [
  ...ways.flatMap((how): Fault[] => [
    { name: `kill -9 of a server in mid-call, by ${how}`, run: (scene) => killInCall(scene, how) },
    { name: `kill -9 of an idle server, by ${how}`, run: (scene) => killIdle(scene, how) },
    { name: `SIGSTOP of a server in mid-call, by ${how}`, run: (scene) => stopInCall(scene, how) },
    { name: `SIGSTOP of an idle server, by ${how}`, run: (scene) => stopIdle(scene, how) },
    { name: `a server stops reading, by ${how}`, run: (scene) => stopReading(scene, how) },
  ]),
  { name: 'kill -9 of a shared server in mid-call', run: (scene) => killShared(scene, true) },
  { name: 'kill -9 of an idle shared server', run: (scene) => killShared(scene, false) },
  { name: 'SIGSTOP of a stubborn server whose session ends', run: stopAndLeave },
];
