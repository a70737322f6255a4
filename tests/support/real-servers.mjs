// Public MCP servers from npm, at exact versions, installed on demand into the ignored folder .cache/real-servers.
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('../../.cache/real-servers', import.meta.url));
const inFolder = (file) => join(folder, 'node_modules', file);
/** The Node of servers that need a newer one than the project, taken by npx as those of the conformance suite are. */
const NODE = 'node@22.23.3';

/** Each needs no account and no network to list its tools. */
const SERVERS = {
  filesystem: {
    package: ['@modelcontextprotocol/server-filesystem', '2026.8.31'],
    run: ['dist/index.js', folder],
  },
  memory: {
    package: ['@modelcontextprotocol/server-memory', '2026.8.31'],
    run: ['dist/index.js'],
    env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
  },
  everything: { package: ['@modelcontextprotocol/server-everything', '2026.8.31'], run: ['dist/index.js'] },
  thinking: {
    package: ['@modelcontextprotocol/server-sequential-thinking', '2026.8.31'],
    run: ['dist/index.js'],
  },
  playwright: { package: ['@playwright/mcp', '0.0.83'], run: ['cli.js', '--headless'] },
  notion: {
    package: ['@notionhq/notion-mcp-server', '2.5.2'],
    run: ['bin/cli.mjs'],
    env: { NOTION_TOKEN: 'none' },
  },
  // Its SQLite is that of Node itself, of 22.5 and later.
  dbhub: {
    package: ['@bytebase/dbhub', '1.4.0'],
    run: ['dist/index.js', '--transport', 'stdio', '--demo'],
    node: NODE,
  },
};

/** What is installed beside the servers: `{name: version}`. */
export async function installRealServers(more = {}) {
  const packages = Object.values(SERVERS).map(({ package: pin }) => pin);
  const dependencies = { ...Object.fromEntries(packages), ...more };
  const pins = JSON.stringify({ ...dependencies, platform: `${process.platform}-${process.arch}` });
  const marker = join(folder, 'installed.json');
  if ((await readFile(marker, 'utf8').catch(() => '')) !== pins) await install(dependencies, marker, pins);
  // Fetched now if need be, for no server's time to start would be enough for that.
  await promisify(execFile)('npx', ['-y', '-p', NODE, 'node', '--version'], { cwd: folder });
  return { folder, corpus: packages.map((pin) => pin.join('@')), servers: entries() };
}

async function install(dependencies, marker, pins) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const flags = ['--engine-strict=false', '--ignore-scripts', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', ['install', ...flags], { cwd: folder });
  // Last: an install that broke off is done again from the start.
  await writeFile(marker, pins);
}

/** As they stand in mcp_servers.json. */
function entries() {
  return Object.fromEntries(Object.entries(SERVERS).map(([id, server]) => [id, entryOf(server)]));
}

function entryOf({ package: [name], run: [file, ...args], env = {}, node }) {
  const program = [inFolder(join(name, file)), ...args];
  if (node === undefined) return { command: process.execPath, args: program, env };
  // In the folder, where no .npmrc asks for strict engines.
  return { command: 'npx', args: ['-y', '-p', node, 'node', ...program], cwd: folder, env };
}
