// What the sandbox costs a command: the whole road of POST /api/execute against a bare spawn of the same shell.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startOrchestrator } from './ours.mjs';
import { stop } from './processes.mjs';
import { median } from './stdio-client.mjs';
import { atMostMore, row } from './table.mjs';

const SANDBOXES = ['bubblewrap', 'landlock'];
const ROUNDS = 60;

export async function shell() {
  const started = {};
  for (const sandbox of SANDBOXES) {
    const orchestrator = await startOrchestrator({
      name: `orchestrator-${sandbox}`,
      env: { SHELL_SANDBOX: sandbox },
    });
    const health = await (await fetch(`${orchestrator.url}/health`)).json();
    if (health.shell.available) started[sandbox] = orchestrator;
    else {
      console.error(`No row for ${sandbox}: ${health.shell.reason}`);
      await stop(orchestrator.child);
    }
  }
  const took = { bare: [], ...Object.fromEntries(Object.keys(started).map((name) => [name, []])) };
  for (const orchestrator of Object.values(started))
    for (let turn = 0; turn < 5; turn++) await command(orchestrator);
  for (let round = 0; round < ROUNDS; round++) {
    took.bare.push(await timed(bareSpawn));
    for (const [name, orchestrator] of Object.entries(started))
      took[name].push(await timed(() => command(orchestrator)));
  }
  for (const { child } of Object.values(started)) await stop(child);
  const bare = median(took.bare);
  return {
    name: 'shell',
    ran: `${ROUNDS} times "true" by POST /api/execute, one after the other and in turns with a bare spawn of sh, medians`,
    rows: Object.keys(started).map((name) =>
      row(`a command in ${name}`, 'ms', median(took[name]), ['bare spawn', bare], atMostMore(15, 'ms')),
    ),
    figures: Object.entries(took).map(([name, times]) => [name, 'ms', median(times)]),
  };
}

async function timed(act) {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}

async function command({ url, token }) {
  const response = await fetch(`${url}/api/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-session-id': 'bench' },
    body: '{"command":"true"}',
  });
  const outcome = await response.json();
  if (outcome.exit_code !== 0) throw new Error(`The command failed: ${JSON.stringify(outcome)}`);
}

async function bareSpawn() {
  const child = spawn('/bin/sh', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
}
