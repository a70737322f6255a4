import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ServerMap } from './config-file.js';
import { isSwitch, isSwitchedOff, type MergedServer } from './merge-servers.js';

/**
 * What the overlay must say so that, over this base, the wanted servers are what there is: nothing about servers that
 * are as in the base, a switch for those that are gone or differ only in being off, and the rest whole.
 * `fault` hears what no overlay can say.
 */
export function overlayFor(
  wanted: ServerMap,
  base: ServerMap,
  merged: ReadonlyMap<string, MergedServer>,
  fault: (sentence: string) => void,
): Map<string, unknown> {
  const overlay = new Map<string, unknown>();
  /** Under which name each server of the base is seen now. */
  const shownAs = new Map([...base.keys()].map((id) => [id, id]));
  for (const [id, { separatedFrom }] of merged)
    if (separatedFrom !== undefined) shownAs.set(separatedFrom, id);
  for (const [id, raw] of wanted) {
    const { separatedFrom, raw: shown } = merged.get(id) ?? {};
    const inBase = base.get(separatedFrom ?? id);
    const entry = difference(raw, separatedFrom === undefined ? inBase : shown, isSwitchedOff(inBase));
    if (entry === undefined) continue;
    if (separatedFrom === undefined) overlay.set(id, entry);
    else if (isSwitch(entry)) overlay.set(wanted.has(separatedFrom) ? id : separatedFrom, entry);
    else fault(`"${id}" is "${separatedFrom}" of the base file, beside your own; change it in that file.`);
  }
  for (const [id, shown] of shownAs) {
    if (wanted.has(shown) || isSwitchedOff(base.get(id))) continue;
    overlay.set(wanted.has(id) ? shown : id, { disabled: true });
  }
  return overlay;
}

/** undefined: as in the base. A switch: as in the base but for being off or on. Else the wanted entry itself. */
function difference(wanted: unknown, original: unknown, originalIsOff: boolean): unknown {
  if (!isObject(original) || !isObject(wanted)) return wanted;
  if (!isDeepStrictEqual(withoutSwitch(wanted), withoutSwitch(original))) return wanted;
  return isSwitchedOff(wanted) === originalIsOff ? undefined : { disabled: isSwitchedOff(wanted) };
}

function withoutSwitch({ disabled, enabled, ...rest }: JsonObject): JsonObject {
  return rest;
}
