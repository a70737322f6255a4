import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { LISTS, type ServerView } from './doctor-views.js';

/** Where two values differ, each as a path with both values, shortened. */
export function differences(expected: unknown, found: unknown, path = ''): string[] {
  if (Array.isArray(expected) && Array.isArray(found)) {
    const length = Math.max(expected.length, found.length);
    return Array.from({ length }, (_, at) => at).flatMap((at) =>
      differences(expected[at], found[at], `${path}[${at}]`),
    );
  }
  if (isObject(expected) && isObject(found)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(found)])];
    return keys.flatMap((key) =>
      differences(expected[key], found[key], path === '' ? key : `${path}.${key}`),
    );
  }
  return Object.is(expected, found) ? [] : [`${path}: ${short(expected)} became ${short(found)}`];
}

export function compareViews(expected: ServerView, found: ServerView): string[] {
  return [...differences(expected.about, found.about, 'about'), ...compareLists(expected, found)];
}

/** Field by field; `found` may hold more, and entries of others under the same address. */
export function compareLists(expected: ServerView, found: ServerView): string[] {
  return LISTS.flatMap(({ name, key }) =>
    expected.lists[name].flatMap((entry) => {
      const alike = found.lists[name].filter((other) => other[key] === entry[key]);
      return closest(entry, alike, String(entry[key]));
    }),
  );
}

function closest(expected: JsonObject, alike: JsonObject[], name: string): string[] {
  if (alike.length === 0) return [`${name}: is missing`];
  const compared = alike.map((entry) => differences(expected, entry, name));
  return compared.reduce((best, other) => (other.length < best.length ? other : best));
}

function short(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
