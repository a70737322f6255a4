import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ServerMap } from './config-file.js';

export interface MergedServer {
  origin: 'base' | 'overlay';
  /** As written; an overlay that only switches a server of the base adds its switch. */
  raw: unknown;
  /** The id in the base file, where this is the base's account beside the overlay's of the same name. */
  separatedFrom?: string;
}

/**
 * The union of both files. Of two entries with one name the overlay's counts, except where both name an OAuth token
 * file and the files differ: these are two accounts of one service, so both stay, the base's as `<name>-base`, or with
 * the next free of `-base-2`, `-base-3` … An overlay entry that says only `disabled` or `enabled` switches the entry of
 * that name and replaces nothing.
 */
export function mergeServers(base: ServerMap, overlay: ServerMap): Map<string, MergedServer> {
  const merged = new Map<string, MergedServer>();
  for (const [id, raw] of base) merged.set(id, { origin: 'base', raw });
  const definitions = [...overlay].filter(([, raw]) => !isSwitch(raw));
  for (const [id, raw] of definitions) merged.set(id, { origin: 'overlay', raw });
  const own = new Map(definitions);
  for (const [id, raw] of base) {
    if (!areTwoAccounts(raw, own.get(id))) continue;
    merged.set(freeName(id, merged), { origin: 'base', raw: asSeparate(id, raw), separatedFrom: id });
  }
  for (const [id, raw] of overlay) {
    const server = merged.get(id);
    if (isSwitch(raw) && server) merged.set(id, { ...server, raw: switched(server.raw, raw) });
  }
  return merged;
}

/** True for an entry that only switches another on or off. */
export function isSwitch(raw: unknown): raw is JsonObject {
  if (!isObject(raw)) return false;
  const keys = Object.keys(raw);
  return keys.length > 0 && keys.every((key) => key === 'disabled' || key === 'enabled');
}

export function isSwitchedOff(raw: unknown): boolean {
  return isObject(raw) && (raw.disabled === true || raw.enabled === false);
}

function switched(raw: unknown, change: JsonObject): unknown {
  if (!isObject(raw)) return raw;
  const { disabled, enabled, ...rest } = raw;
  return isSwitchedOff(change) ? { ...rest, disabled: true } : rest;
}

function areTwoAccounts(base: unknown, overlay: unknown): boolean {
  const first = tokenFile(base);
  const second = tokenFile(overlay);
  return first !== undefined && second !== undefined && first !== second;
}

function tokenFile(raw: unknown): string | undefined {
  if (!isObject(raw) || !isObject(raw.oauth)) return undefined;
  const { token_file: file } = raw.oauth;
  return typeof file === 'string' && file !== '' ? file : undefined;
}

function freeName(id: string, taken: ReadonlyMap<string, unknown>): string {
  let name = `${id}-base`;
  for (let count = 2; taken.has(name); count += 1) name = `${id}-base-${count}`;
  return name;
}

function asSeparate(id: string, raw: unknown): unknown {
  if (!isObject(raw)) return raw;
  const note = `(the base file's own account of "${id}"; make sure whose it is)`;
  const { description } = raw;
  return { ...raw, description: typeof description === 'string' ? `${description} ${note}` : note };
}
