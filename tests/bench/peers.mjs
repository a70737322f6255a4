// The peers from npm: installed on demand, each started as its README tells a user to, and with its default log.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort, logOf, startNode } from './processes.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, '../../.cache/bench');
const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

export const bareServer = join(here, '../fixtures/bare-server.mjs');
export const versionOf = (peer) => `${peer} ${manifest.devDependencies[peer]}`;

/** Puts the pinned versions into `.cache/bench`, unless they are there. */
export async function installPeers() {
  const wanted = Object.entries(manifest.devDependencies);
  if (wanted.every(([name, version]) => installed(name)?.version === version)) return;
  console.error(`Installing ${wanted.map(([name]) => name).join(', ')} into .cache/bench …`);
  await mkdir(folder, { recursive: true });
  // Without the name: two packages of one name below the root confuse jest.
  const { devDependencies } = manifest;
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, devDependencies }));
  const args = ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', args, { cwd: folder });
}

/** supergateway, stateful: a server process for each session. */
export function startSupergateway(name = 'supergateway', more = []) {
  return startGateway(name, 'supergateway', ['--require', join(here, 'loopback.cjs')], (port) => [
    ...['--stdio', `"${process.execPath}" "${bareServer}"`],
    ...['--outputTransport', 'streamableHttp', '--stateful', '--port', String(port), ...more],
  ]);
}

/** Against its default it writes nothing down. Shown beside the others, since ours cannot be told to. */
export const startQuietSupergateway = () =>
  startSupergateway('supergateway without its log', ['--logLevel', 'none']);

/** mcp-proxy, stateful, which is its default: one server process for all sessions. */
export function startMcpProxy() {
  return startGateway('mcp-proxy', 'mcp-proxy', [], (port) => [
    ...['--host', '127.0.0.1', '--port', String(port), '--server', 'stream'],
    ...['--', process.execPath, bareServer],
  ]);
}

/** mcp-remote as the stdio bridge to a gateway. */
export function startMcpRemote(url) {
  return startNode('mcp-remote', [program('mcp-remote'), url, '--transport', 'http-only']);
}

async function startGateway(name, peer, nodeOptions, options) {
  const port = await freePort();
  const child = startNode(name, [...nodeOptions, program(peer), ...options(port)], {}, ['ignore', 'log']);
  const url = `http://127.0.0.1:${port}/mcp`;
  await untilAnswering(child, url);
  return { name, url };
}

async function untilAnswering(child, url) {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await fetch(url, { method: 'POST' }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer) return;
    if (child.exitCode !== null) break;
    await delay(50);
  }
  throw new Error(`${child.name} does not answer at ${url}.\n${logOf(child.name)}`);
}

function program(name) {
  const { bin } = installed(name);
  return join(folder, 'node_modules', name, typeof bin === 'string' ? bin : bin[name]);
}

function installed(name) {
  const file = join(folder, 'node_modules', name, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
