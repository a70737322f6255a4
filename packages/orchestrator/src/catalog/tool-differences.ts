import { isObject } from '@mcpbridge/shared/json-rpc.js';

export interface Difference {
  /** JSON pointer; empty: the whole. */
  path: string;
  /** Absent: there was none. */
  was?: unknown;
  /** Absent: there is none any more. */
  is?: unknown;
}

/** Where two JSON values differ, member by member; lists are compared whole. */
export function differences(was: unknown, is: unknown, path = ''): Difference[] {
  if (isObject(was) && isObject(is)) {
    const names = new Set([...Object.keys(was), ...Object.keys(is)]);
    return [...names].flatMap((name) => differences(was[name], is[name], `${path}/${escaped(name)}`));
  }
  if (JSON.stringify(was) === JSON.stringify(is)) return [];
  return [{ path, ...(was === undefined ? {} : { was }), ...(is === undefined ? {} : { is }) }];
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
