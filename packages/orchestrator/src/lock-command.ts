import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { Catalog } from './catalog/catalog.js';
import { hashOf } from './catalog/tool-lock.js';
import { type LockFile, readLockFile } from './config/lock-file.js';
import type { Log } from './log.js';
import { startOrchestrator } from './orchestrator.js';
import type { Settings } from './settings.js';

/**
 * `main.js lock`: lists the tools of all servers and writes `mcp.lock`; `lock --check` compares instead and answers
 * the lines of what differs. Servers that cannot be listed are a difference, too.
 */
export async function lockCommand(settings: Settings, log: Log, check: boolean): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), 'mcpbridge-lock-'));
  try {
    const orchestrator = await startOrchestrator({ ...settings, home, port: 0, lockFile: '' }, log);
    const faults: string[] = [];
    const now = await hashes(orchestrator.catalog, faults);
    await orchestrator.close();
    if (check) return [...faults, ...drift(readLockFile(settings.lockFile) ?? {}, now)];
    if (faults.length === 0) writeFileSync(settings.lockFile, `${JSON.stringify(now, null, 2)}\n`);
    return faults;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function hashes(catalog: Catalog, faults: string[]): Promise<LockFile> {
  const servers = catalog.allProviders().filter(({ kind }) => kind === 'mcp');
  const lists = servers.sort(byId).map(async (provider) => {
    try {
      const { tools } = await provider.refresh();
      return [
        provider.id,
        Object.fromEntries(tools.map((tool) => [tool.name, hashOf(tool)]).sort()),
      ] as const;
    } catch (error) {
      faults.push(`${provider.id}: ${messageOf(error)}`);
      return [provider.id, {}] as const;
    }
  });
  return Object.fromEntries(await Promise.all(lists));
}

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

function drift(was: LockFile, is: LockFile): string[] {
  const lines: string[] = [];
  for (const server of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const [before = {}, after = {}] = [was[server], is[server]];
    for (const tool of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (before[tool] === after[tool]) continue;
      const what = before[tool] === undefined ? 'is new' : after[tool] === undefined ? 'is gone' : 'changed';
      lines.push(`${server}: the tool "${tool}" ${what}`);
    }
  }
  return lines;
}
