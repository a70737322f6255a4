// Our own road: the built orchestrator with the bare server as its one upstream, and the built bridge before it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bareServer } from './peers.mjs';
import { logOf, startNode, workFolder } from './processes.mjs';

const packages = join(dirname(fileURLToPath(import.meta.url)), '../../packages');
const orchestratorFile = join(packages, 'orchestrator/dist/main.js');
const bridgeFile = join(packages, 'mcpbridge/dist/mcpbridge.cjs');

export const missingBuild = () => [orchestratorFile, bridgeFile].filter((file) => !existsSync(file));

/** Started as `npm start` does it, with a home, a configuration and a workspace of its own. */
export async function startOrchestrator(nodeOptions = []) {
  const home = join(workFolder, 'orchestrator-home');
  await mkdir(home, { recursive: true });
  const configFile = join(home, 'mcp_servers.json');
  const bare = { command: process.execPath, args: [bareServer] };
  writeFileSync(configFile, JSON.stringify({ mcpServers: { bare } }));
  const env = { HOST: '127.0.0.1', PORT: '0', MCPBRIDGE_HOME: home, MCP_CONFIG: configFile };
  const workspace = { WORKSPACE_DIR: join(home, 'workspace') };
  const child = startNode('orchestrator', [...nodeOptions, orchestratorFile], { ...env, ...workspace }, [
    'ignore',
    'pipe',
  ]);
  const url = await addressOf(child);
  await untilReady(child, url);
  return { url, home, child, token: readFileSync(join(home, 'token'), 'utf8').trim() };
}

const toolsOfBare = ['echo', 'big', 'slow'].map((name) => ({
  ...{ name, description: `The bare server's ${name}`, server: 'bare', type: 'mcp' },
  input_schema: { type: 'object', properties: { text: { type: 'string' }, bytes: { type: 'integer' } } },
}));

/** As a client's config has it: the address alone; token and socket are found by the bridge. */
export function startBridge(orchestrator, mode, nodeOptions = []) {
  const env = { MCP_API_URL: `${orchestrator.url}/api`, MCPBRIDGE_HOME: orchestrator.home };
  const list = mode === 'listed' ? { MCP_TOOLS: JSON.stringify(toolsOfBare) } : {};
  return startNode(`bridge-${mode}`, [...nodeOptions, bridgeFile], { ...env, ...list });
}

function addressOf(child) {
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The orchestrator ended at its start.\n${logOf(child.name)}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
      if (address) resolve(address);
    });
  });
}

async function untilReady(child, url) {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(`${url}/ready`);
    await answer.body?.cancel();
    if (answer.ok) return;
    await delay(50);
  }
  throw new Error(`The orchestrator did not become ready.\n${logOf(child.name)}`);
}
