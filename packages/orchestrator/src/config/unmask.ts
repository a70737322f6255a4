import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { maskEntry } from './mask.js';
import { MASK } from './mask-value.js';

/**
 * A given entry with the stored values in the place of their masks. `unknown` hears the path of each mask that stands
 * for nothing stored: the value was never there, or moved to another name.
 */
export function unmaskEntry(given: unknown, stored: unknown, unknown: (path: string) => void): unknown {
  return restore(given, { masked: maskEntry(stored), stored }, [], unknown);
}

interface Stored {
  masked: unknown;
  stored: unknown;
}

function restore(given: unknown, known: Stored, path: string[], unknown: (path: string) => void): unknown {
  if (typeof given === 'string') {
    if (!given.includes(MASK)) return given;
    if (given === known.masked) return known.stored;
    unknown(path.join('.'));
    return given;
  }
  if (Array.isArray(given)) {
    return given.map((item, index) =>
      restore(item, pick(known, positionOf(given, index, known.masked)), [...path, String(index)], unknown),
    );
  }
  if (!isObject(given)) return given;
  const entries = Object.entries(given);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, restore(value, pick(known, name), [...path, name], unknown)]),
  );
}

function pick({ masked, stored }: Stored, key: string | number | undefined): Stored {
  return { masked: member(masked, key), stored: member(stored, key) };
}

function member(value: unknown, key: string | number | undefined): unknown {
  if (Array.isArray(value)) return typeof key === 'number' ? value[key] : undefined;
  return isObject(value) && typeof key === 'string' && Object.hasOwn(value, key) ? value[key] : undefined;
}

/**
 * Where a list item stood before somebody added or removed others: the like item after the like one. Only so is it
 * sure that the value after `--token` does not come back after `--password`.
 */
function positionOf(given: unknown[], index: number, masked: unknown): number | undefined {
  if (!Array.isArray(masked) || typeof given[index] !== 'string') return index;
  const alike = [...masked.keys()].filter(
    (at) => masked[at] === given[index] && masked[at - 1] === given[index - 1],
  );
  return alike.includes(index) ? index : alike.length === 1 ? alike[0] : undefined;
}
