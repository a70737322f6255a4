import { afterAll } from '@jest/globals';
import type { RunningOrchestrator } from '../../support/orchestrator.js';
import { ended } from '../../support/processes.js';
import { startBridge } from '../../support/road.js';
import type { Frame, StdioPeer } from '../../support/stdio-peer.js';

const bridges: StdioPeer[] = [];

afterAll(async () => {
  for (const bridge of bridges.splice(0)) {
    bridge.process.kill('SIGKILL');
    await ended(bridge.process);
  }
});

export interface Agent {
  /** By the listed name. */
  call(tool: string, args?: object): Promise<Frame>;
}

/** An agent's client: a real bridge, in a session of its own. */
export async function startAgent(
  running: RunningOrchestrator,
  session: string,
  env: NodeJS.ProcessEnv = {},
): Promise<Agent> {
  const bridge = startBridge(running, { MCP_SESSION_ID: session, MCP_API_TOKEN: running.token, ...env });
  bridges.push(bridge);
  await bridge.initialize();
  return { call: (tool, args = {}) => bridge.callTool(tool, args) };
}

/** So many calls a second, until it is stopped. */
export function flow(agent: Agent, perSecond: number, tool = 'bare__echo'): () => Promise<void> {
  const running = new Set<Promise<unknown>>();
  let made = 0;
  const begun = Date.now();
  const timer = setInterval(() => {
    const due = Math.floor(((Date.now() - begun) * perSecond) / 1000);
    for (; made < due; made++) {
      const call = agent.call(tool, { text: `call ${made}` });
      running.add(call);
      void call.finally(() => running.delete(call));
    }
  }, 20);
  return async () => {
    clearInterval(timer);
    await Promise.all(running);
  };
}
