import { expect } from '@jest/globals';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../../support/orchestrator.js';
import { bridgeFile, eventually, root } from '../../support/processes.js';
import { bridgesTo } from './bridges.js';

/** What a client's config says about a stdio server. */
export interface ServerEntry {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** Both modes of the bridge, the name that a client sees for "echo" of the server "everything", and what is listed. */
export const MODES = [
  {
    mode: 'transparent',
    echo: 'everything__echo',
    listed: expect.arrayContaining(['everything__echo', 'everything__get-sum', 'bare__echo']),
  },
  { mode: 'listed', echo: 'echo', listed: ['echo'] },
] as const;

export type Mode = (typeof MODES)[number]['mode'];

export interface Bridged {
  orchestrator: RunningOrchestrator;
  entry(mode: Mode): ServerEntry;
  stop(): Promise<void>;
}

const everything = {
  command: process.execPath,
  args: [`${root}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`],
};

const listedTools = [
  {
    name: 'echo',
    description: 'Echoes back the input string',
    input_schema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    server: 'everything',
    type: 'mcp',
  },
];

/** An orchestrator with two real servers, and the config entries with which a client spawns the bridge to it. */
export async function startBridged(): Promise<Bridged> {
  const orchestrator = await startOrchestrator({ servers: { everything, bare: bareServer }, early: true });
  // Long enough for a machine that is busy with an install; one that stays behind would keep jest from ending.
  const ready = async () => (await fetch(`${orchestrator.url}/ready`)).ok;
  await eventually('/ready answers 200', ready, 60_000).catch(async (error) => {
    await orchestrator.stop();
    throw error;
  });
  const address = { MCP_API_URL: `${orchestrator.url}/api` };
  const env: Record<Mode, Record<string, string>> = {
    // Finds the token by itself, as the bridge of the same user does.
    transparent: { ...address, MCPBRIDGE_HOME: orchestrator.home },
    listed: { ...address, MCP_API_TOKEN: orchestrator.token, MCP_TOOLS: JSON.stringify(listedTools) },
  };
  return {
    orchestrator,
    entry: (mode) => ({ command: process.execPath, args: [bridgeFile], env: env[mode] }),
    async stop() {
      const noneLeft = async () => (await bridgesTo(address.MCP_API_URL)).length === 0;
      await eventually('every bridge ended with its client', noneLeft).finally(() => orchestrator.stop());
    },
  };
}
