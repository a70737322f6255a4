// The ways from a client on stdio to the bare server that the same work is sent through.
import { startBridge } from './ours.mjs';
import { bareServer, startMcpRemote, versionOf } from './peers.mjs';
import { startNode } from './processes.mjs';
import { StdioClient } from './stdio-client.mjs';

export const MODES = ['listed', 'transparent'];

const ownNames = { echo: 'echo', big: 'big' };
const exposedNames = { echo: 'bare__echo', big: 'bare__big' };

/** A road: its name, and `spawn()`, which starts the program at its near end and answers a client for it. */
const road = (name, tools, startChild) => ({ name, spawn: () => new StdioClient(startChild(), tools) });

export const direct = road('bare', ownNames, () => startNode('bare', [bareServer]));

export const throughUs = (orchestrator, mode) =>
  road(`ours ${mode}`, mode === 'listed' ? ownNames : exposedNames, () => startBridge(orchestrator, mode));

/** mcp-remote before a gateway: what a user without us has to put together. */
export const throughPeers = (gateway) =>
  road(`mcp-remote + ${gateway.name}`, ownNames, () => startMcpRemote(gateway.url));

export const peersUsed = [versionOf('mcp-remote'), versionOf('supergateway'), versionOf('mcp-proxy')];

/** Spawns, shakes hands, and has the tools listed; the milliseconds from the spawn to the list. */
export async function open(oneRoad) {
  const started = performance.now();
  const client = oneRoad.spawn();
  await client.initialize();
  const { tools } = await client.request('tools/list');
  const took = performance.now() - started;
  if (!tools.some((tool) => tool.name === client.tools.echo)) {
    throw new Error(
      `${oneRoad.name} lists no ${client.tools.echo}: ${tools.map((tool) => tool.name).join(', ')}`,
    );
  }
  return { client, took };
}
