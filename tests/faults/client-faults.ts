import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bridgeFile, ended, plainEnv, root } from '../support/processes.js';
import { BridgeCaller } from './support/callers.js';
import { allGone, type Fault, killed, newMark, pidOf, type Scene } from './support/fault.js';

async function killBridge({ house }: Scene, server: string, inCall: boolean): Promise<void> {
  const caller = await BridgeCaller.start(house.running);
  const pid = await pidOf(caller, server);
  if (inCall) {
    const { mark, began } = newMark();
    void caller.call(server, 'hang', { mark });
    await began();
  }
  await killed(caller);
  await allGone(`the server "${server}" of the session`, [pid]);
}

/** A client is a program that has started a bridge, or one that speaks HTTP itself. */
async function killClient({ house }: Scene, how: string, inCall: boolean): Promise<void> {
  const { mark, began } = newMark();
  const { running } = house;
  const env = {
    ...plainEnv(),
    MCPBRIDGE_HOME: running.home,
    MCP_API_URL: running.url,
    TOKEN: running.token,
    ...(inCall ? { MARK: mark } : {}),
  };
  const file = join(root, 'tests/faults/support/client.mjs');
  const client = spawn(process.execPath, [file, how, bridgeFile], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: client.stdout }), 'line');
  const pids: number[] = JSON.parse(String(line));
  if (inCall) await began();
  client.kill('SIGKILL');
  await ended(client);
  await allGone('what the client had', pids);
}

export const clientFaults: Fault[] = [
  ...[true, false].flatMap((inCall): Fault[] => {
    const when = inCall ? 'in mid-call' : 'while idle';
    return [
      ...['stdio', 'stubborn'].map((server) => ({
        name: `kill -9 of a bridge ${when}, with the server "${server}"`,
        run: (scene: Scene) => killBridge(scene, server, inCall),
      })),
      ...['bridge', 'HTTP'].map((how) => ({
        name: `kill -9 of a client (${how}) ${when}`,
        run: (scene: Scene) => killClient(scene, how, inCall),
      })),
    ];
  }),
];
