import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { hashOf } from './catalog/tool-lock.js';
import { type LockFile, readLockFile } from './config/lock-file.js';
import type { Log } from './log.js';
import { type Orchestrator, startOrchestrator } from './orchestrator.js';
import type { Settings } from './settings.js';
import { openStore } from './store/store.js';
import { sealingKey } from './vault/sealing-key.js';

/**
 * `main.js lock`: lists the tools of all servers and writes `mcp.lock`; `lock --check` compares instead. Answers the lines of
 * what differs, or keeps it from being written: servers that cannot be listed are a difference, too.
 */
export async function lockCommand(settings: Settings, log: Log, check: boolean): Promise<string[]> {
  const { lockFile } = settings;
  const locked = check ? readLockFile(lockFile) : {};
  if (!locked) return [`There is no ${lockFile}: write it with "lock", without --check.`];
  const { now, unlisted, faults } = await listed(settings, log);
  const reasons = [...faults, ...[...unlisted].map(([server, reason]) => `${server}: ${reason}`)];
  if (check) return [...reasons, ...drift(locked, now, unlisted)];
  if (reasons.length > 0)
    return [...reasons, `${lockFile} was not written: every server must be listed, or be disabled.`];
  writeFileSync(lockFile, `${JSON.stringify(now, null, 2)}\n`);
  return [];
}

interface Listed {
  now: LockFile;
  /** Why, by server. */
  unlisted: Map<string, string>;
  /** Of the configuration as a whole. */
  faults: readonly string[];
}

/** In a home of its own: what was accepted here before must not decide. */
async function listed(settings: Settings, log: Log): Promise<Listed> {
  const home = mkdtempSync(join(tmpdir(), 'mcpbridge-lock-'));
  try {
    const secretsKey = await copySecrets(settings, home, log);
    const orchestrator = await startOrchestrator(
      { ...settings, home, secretsKey, port: 0, lockFile: '' },
      log,
    );
    const found = await listAll(orchestrator);
    await orchestrator.close();
    return found;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Its servers use the same secrets, where there are any; answers the key that opens them. */
async function copySecrets(settings: Settings, to: string, log: Log): Promise<Uint8Array | undefined> {
  if (!existsSync(join(settings.home, 'store.db'))) return settings.secretsKey;
  const [source, target] = [await openStore(settings.home, log), await openStore(to, log)];
  for (const row of await source.secrets.all()) await target.secrets.put(row);
  await Promise.all([source.close(), target.close()]);
  return sealingKey(settings);
}

async function listAll({ catalog, config }: Orchestrator): Promise<Listed> {
  const unlisted = new Map<string, string>();
  for (const server of config.servers)
    if (server.state === 'faulty') unlisted.set(server.id, server.faults.join(' '));
  const now: LockFile = {};
  const servers = catalog.allProviders().filter(({ kind }) => kind === 'mcp');
  for (const { id } of servers.sort(byId)) now[id] = {};
  const lists = servers.map(async (provider) => {
    try {
      const { tools } = await provider.refresh();
      now[provider.id] = Object.fromEntries(tools.map((tool) => [tool.name, hashOf(tool)]).sort());
    } catch (error) {
      unlisted.set(provider.id, messageOf(error));
    }
  });
  await Promise.all(lists);
  return { now, unlisted, faults: config.faults };
}

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

/** Of the servers that were listed; of others nobody can say. */
function drift(was: LockFile, is: LockFile, unlisted: ReadonlyMap<string, string>): string[] {
  const lines: string[] = [];
  for (const server of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (unlisted.has(server)) continue;
    const [before = {}, after = {}] = [was[server], is[server]];
    for (const tool of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (before[tool] === after[tool]) continue;
      const what = before[tool] === undefined ? 'is new' : after[tool] === undefined ? 'is gone' : 'changed';
      lines.push(`${server}: the tool "${tool}" ${what}`);
    }
  }
  return lines;
}
