import type { RunningOrchestrator } from './orchestrator.js';
import { bridgeFile, fixture } from './processes.js';
import { StdioPeer } from './stdio-peer.js';

/** The built bridge in transparent mode, as a client of this orchestrator would start it. */
export function startBridge(running: RunningOrchestrator, env: NodeJS.ProcessEnv = {}): StdioPeer {
  return StdioPeer.start(bridgeFile, {
    MCPBRIDGE_HOME: running.home,
    MCP_API_URL: `${running.url}/api`,
    ...env,
  });
}

/** The server that can do everything; `trace` is the file in which it notes what happens to it. */
export function featuresServer(env: Record<string, string> = {}, more: object = {}): object {
  return { command: process.execPath, args: [fixture('features-server.mjs')], env, ...more };
}

export const textOf = (frame: { result?: { content?: { text?: string }[] } }): string | undefined =>
  frame.result?.content?.[0]?.text;
