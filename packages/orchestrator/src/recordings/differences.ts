import { isObject } from '@mcpbridge/shared/json-rpc.js';

/** Where two JSON values differ; a side that has nothing there lacks it. */
export interface Difference {
  /** As a JSON Pointer. */
  path: string;
  was?: unknown;
  is?: unknown;
}

const MOST = 100;

/** The first hundred differences. Texts that hold JSON are compared as such: servers write objects in any order. */
export function differences(was: unknown, is: unknown): Difference[] {
  const found: Difference[] = [];
  compare(was, is, '', found);
  return found;
}

function compare(before: unknown, after: unknown, path: string, found: Difference[]): void {
  const [was, is] = [unfolded(before), unfolded(after)];
  if (Object.is(was, is) || found.length >= MOST) return;
  if (isObject(was) && isObject(is)) {
    for (const key of new Set([...Object.keys(was), ...Object.keys(is)]))
      compare(was[key], is[key], `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, found);
  } else if (Array.isArray(was) && Array.isArray(is)) {
    for (let index = 0; index < Math.max(was.length, is.length); index += 1)
      compare(was[index], is[index], `${path}/${index}`, found);
  } else {
    found.push({
      path,
      ...(before === undefined ? {} : { was: before }),
      ...(after === undefined ? {} : { is: after }),
    });
  }
}

function unfolded(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
