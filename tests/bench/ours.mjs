// Our own road: the built orchestrator with the bare server as its one upstream, and the built bridge before it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
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

const bare = { command: process.execPath, args: [bareServer] };

/**
 * Started as `npm start` does it, with a home, a configuration and a workspace of its own. Waits until the catalog can
 * serve, and for so many `tools` when that is said. `fresh`: it remembers nothing of an earlier start.
 */
export async function startOrchestrator({
  name = 'orchestrator',
  servers = { bare },
  tools = 0,
  fresh = false,
  nodeOptions = [],
  env: more = {},
} = {}) {
  const home = join(workFolder, `${name}-home`);
  if (fresh) await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true });
  const configFile = join(home, 'mcp_servers.json');
  writeFileSync(configFile, JSON.stringify({ mcpServers: servers }));
  const env = { HOST: '127.0.0.1', PORT: '0', MCPBRIDGE_HOME: home, MCP_CONFIG: configFile };
  const workspace = { WORKSPACE_DIR: join(home, 'workspace') };
  const child = startNode(name, [...nodeOptions, orchestratorFile], { ...env, ...workspace, ...more }, [
    'ignore',
    'pipe',
  ]);
  const url = await addressOf(child);
  const token = readFileSync(join(home, 'token'), 'utf8').trim();
  await untilReady(child, url, token, tools);
  return { url, home, child, token };
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

async function untilReady(child, url, token, tools) {
  for (let tries = 0; tries < 1200; tries++) {
    if (await isReady(url, token, tools)) return;
    await delay(tools > 0 ? 10 : 50);
  }
  throw new Error(`The orchestrator did not become ready.\n${logOf(child.name)}`);
}

async function isReady(url, token, tools) {
  if (tools === 0) {
    const answer = await fetch(`${url}/ready`);
    await answer.body?.cancel();
    return answer.ok;
  }
  const answer = await fetch(`${url}/api/mcp-config/status`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await answer.json()).total_tools >= tools;
}
