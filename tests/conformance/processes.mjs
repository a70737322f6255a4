import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const FIXTURE = fileURLToPath(new URL('fixture.mjs', import.meta.url));
const ORCHESTRATOR = fileURLToPath(new URL('../../packages/orchestrator/dist/main.js', import.meta.url));
const URL_LINE = /http:\/\/(?:localhost|127\.0\.0\.1):\d+(?:\/mcp)?/;

const children = new Set();

/** It is ended with this process, whatever ends that. */
export function watched(child) {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

// Whoever breaks a run off leaves no processes behind.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
process.on('exit', () => {
  for (const child of children) child.kill('SIGTERM');
});

/** The fixture as a command of mcp_servers.json. */
export const fixtureCommand = { command: process.execPath, args: [FIXTURE, '--stdio'] };

/** The fixture over Streamable HTTP, of both eras or of one. */
export function startFixture(era) {
  return start(FIXTURE, era ? ['--era', era] : [], { PATH: process.env.PATH });
}

/** The built orchestrator on a free port, in a folder of its own, when its catalog can serve. */
export async function startOrchestrator(mcpServers) {
  const home = await mkdtemp(join(tmpdir(), 'mcpbridge-conformance-'));
  const configFile = join(home, 'mcp_servers.json');
  await writeFile(configFile, JSON.stringify({ mcpServers }));
  const started = await start(ORCHESTRATOR, [], {
    PATH: process.env.PATH,
    HOST: '127.0.0.1',
    PORT: '0',
    MCPBRIDGE_HOME: home,
    MCP_CONFIG: configFile,
    WORKSPACE_DIR: join(home, 'workspace'),
    // The suite does not end its sessions, so each would keep its process of the fixture.
    UPSTREAM_IDLE_TIMEOUT: '10s',
  });
  const token = (await readFile(join(home, 'token'), 'utf8')).trim();
  const stop = async () => {
    await started.stop();
    await rm(home, { recursive: true, force: true });
  };
  try {
    await ready(started);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...started, token, stop };
}

/** Starts `node file …` and waits for the address that it prints. */
async function start(file, args, env) {
  const child = watched(spawn(process.execPath, [file, ...args], { env, stdio: 'pipe' }));
  let written = '';
  child.stderr.on('data', (chunk) => (written += chunk));
  const url = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${file} ended at its start:\n${written}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      written += `${line}\n`;
      const [address] = URL_LINE.exec(line) ?? [];
      if (address) resolve(address);
    });
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  return { url, output: () => written, stop };
}

async function ready({ url, output }) {
  const deadline = Date.now() + 30_000;
  while (!(await fetch(`${url}/ready`)).ok) {
    if (Date.now() > deadline) throw new Error(`The orchestrator did not get ready:\n${output()}`);
    await new Promise((next) => setTimeout(next, 50));
  }
}
