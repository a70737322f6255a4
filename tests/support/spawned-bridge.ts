import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { bridgeFile, ended } from './processes.js';
import { StdioPeer } from './stdio-peer.js';

const peers: StdioPeer[] = [];
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-test-'));
});

afterEach(async () => {
  for (const peer of peers.splice(0)) {
    peer.process.kill('SIGKILL');
    await ended(peer.process);
  }
  await rm(folder, { recursive: true, force: true });
});

/** A folder of the running test, gone after it. */
export const inFolder = (name: string): string => join(folder, name);

/** The built bridge in a home of its own; ended with the test. */
export function startBridge(env: NodeJS.ProcessEnv, args: string[] = []): StdioPeer {
  const peer = StdioPeer.start(bridgeFile, { MCPBRIDGE_HOME: inFolder('home'), ...env }, args);
  peers.push(peer);
  return peer;
}

/** Entries of MCP_TOOLS for these names. */
export const toolList = (...names: string[]): string => JSON.stringify(names.map((name) => ({ name })));

/** `_meta` of a request of the modern era. */
export const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'stdio-peer', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
