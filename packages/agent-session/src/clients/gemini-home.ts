import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { PrivateFolder } from '../private-folder.js';

/**
 * A home for one Gemini CLI: the user's own, by links, but for the settings, which are the user's with these servers
 * alone. It takes servers from settings only, and trusts no file of settings below the temporary folder but these.
 */
export function geminiHome(env: NodeJS.ProcessEnv, folder: PrivateFolder, mcpServers: JsonObject): string {
  const theirs = join(env.GEMINI_CLI_HOME || env.HOME || homedir(), '.gemini');
  const home = mkdtempSync(join(folder.path, 'gemini-'));
  const ours = join(home, '.gemini');
  mkdirSync(ours);
  for (const name of namesIn(theirs)) {
    if (name !== 'settings.json') symlinkSync(join(theirs, name), join(ours, name));
  }
  const settings = { ...readSettings(join(theirs, 'settings.json')), mcpServers };
  writeFileSync(join(ours, 'settings.json'), JSON.stringify(settings), { mode: 0o600 });
  return home;
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    // Nobody has run it here yet.
    return [];
  }
}

/** With comments, as Gemini CLI takes them. */
function readSettings(path: string): JsonObject {
  try {
    const text = readFileSync(path, 'utf8');
    const plain = text.replace(/("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\//g, (_, string) => string ?? '');
    const settings: unknown = JSON.parse(plain);
    return isObject(settings) ? settings : {};
  } catch {
    // None, or none that can be read: Gemini CLI then says what it misses.
    return {};
  }
}
