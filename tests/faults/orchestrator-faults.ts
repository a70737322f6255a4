import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { ended } from '../support/processes.js';
import { BridgeCaller, HttpCaller, type Outcome } from './support/callers.js';
import { allGone, type Fault, failsAtOnce, newMark, pidOf, works } from './support/fault.js';
import { badServer } from './support/house.js';

const servers = { stdio: badServer(), stubborn: badServer({ env: { IGNORE_SIGTERM: '1' } }) };

interface Own {
  running: RunningOrchestrator;
  callers: [BridgeCaller, HttpCaller];
  pids: number[];
  calls: Promise<Outcome>[];
}

/** An orchestrator of its own, as all its sessions go with it; each of two callers has two servers, and maybe a call. */
async function open(inCall: boolean): Promise<Own> {
  const running = await startOrchestrator({ servers });
  const callers: Own['callers'] = [await BridgeCaller.start(running), new HttpCaller(running)];
  const pids = await Promise.all(
    callers.flatMap((caller) => Object.keys(servers).map((server) => pidOf(caller, server))),
  );
  const marks = callers.map(() => newMark());
  const calls = inCall
    ? callers.map((caller, at) => caller.call('stdio', 'hang', { mark: marks[at]?.mark }))
    : [];
  if (inCall) await Promise.all(marks.map(({ began }) => began()));
  return { running, callers, pids, calls };
}

async function kill(inCall: boolean): Promise<void> {
  const { running, callers, pids, calls } = await open(inCall);
  const [bridge] = callers;
  const cause = performance.now();
  running.process.kill('SIGKILL');
  const [byBridge, byHttp] = calls;
  if (byBridge && byHttp) {
    await failsAtOnce(byHttp, 'UNREACHABLE', cause);
    await failsAtOnce(byBridge, 'CONNECTION_LOST', cause);
  }
  await ended(running.process);
  await allGone('a server of the killed orchestrator', pids);
  const again = await startOrchestrator({ again: running });
  await works(bridge, 'stdio');
  await bridge.leave();
  await again.stop();
}

/** The first signal lets calls finish; with calls that never end it waits, and the second does not. */
async function terminate(signal: NodeJS.Signals, twice: boolean): Promise<void> {
  const { running, callers, pids, calls } = await open(twice);
  const [bridge, http] = callers;
  const slow = twice ? [] : callers.map((caller) => caller.call('stdio', 'slow', { ms: 300 }));
  if (!twice) await works(http, 'stubborn');
  running.process.kill(signal);
  if (twice) {
    await new Promise((soon) => setTimeout(soon, 50));
    const cause = performance.now();
    running.process.kill(signal);
    await Promise.all(
      calls.map((call, at) => failsAtOnce(call, at === 0 ? 'CONNECTION_LOST' : 'UNREACHABLE', cause)),
    );
  }
  for (const { code, text } of await Promise.all(slow)) {
    if (code !== undefined) throw new Error(`A running call was not let finish: ${code} ${text}`);
  }
  const { code } = await ended(running.process);
  if (code !== (twice ? 1 : 0)) throw new Error(`It ended with exit code ${code}.`);
  await allGone('a server of the ended orchestrator', pids);
  await bridge.leave();
}

export const orchestratorFaults: Fault[] = [
  { name: 'kill -9 of an orchestrator in mid-call', run: () => kill(true) },
  { name: 'kill -9 of an idle orchestrator', run: () => kill(false) },
  { name: 'SIGTERM of an orchestrator in mid-call', run: () => terminate('SIGTERM', false) },
  { name: 'SIGINT twice of an orchestrator in mid-call', run: () => terminate('SIGINT', true) },
];
