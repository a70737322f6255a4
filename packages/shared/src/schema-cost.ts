import { isObject, type JsonObject } from './json-rpc.js';

/** Characters of a schema that is compiled: the compiler takes seconds for one of a megabyte, in which nothing else runs. */
const MAX_LENGTH = 128 * 1024;
/** Schemas that are tried at one and the same place of a value; `allOf` and `$ref` together can make billions of a page. */
const MAX_BRANCHES = 10_000;

const LISTS = ['allOf', 'anyOf', 'oneOf'];
const SINGLES = ['if', 'then', 'else', 'not'];
const MAPS = ['dependentSchemas', 'dependencies'];
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'];
const ADDRESSES = ['$id', 'id', '$anchor', '$dynamicAnchor'];

/** True for a schema whose check would take longer than a call may: too large, or branching without end. */
export function isCostly(schema: JsonObject): boolean {
  if (JSON.stringify(schema).length > MAX_LENGTH) return true;
  const branches = new Branches(schema);
  return everyObject(schema).some((node) => branches.at(node) > MAX_BRANCHES);
}

/** Counts what is tried at the place of a value that a schema stands for, references followed. */
class Branches {
  private readonly known = new Map<JsonObject, number>();
  private readonly addresses = new Map<string, JsonObject>();

  constructor(private readonly root: JsonObject) {
    for (const node of everyObject(root)) {
      for (const key of ADDRESSES) {
        const address = node[key];
        if (typeof address === 'string')
          this.addresses.set(key.endsWith('id') ? address : `#${address}`, node);
      }
    }
  }

  at(node: unknown): number {
    if (!isObject(node)) return 1;
    const known = this.known.get(node);
    if (known !== undefined) return known;
    // Who comes back here meanwhile would never end.
    this.known.set(node, Number.POSITIVE_INFINITY);
    const count = this.tried(node).reduce<number>((sum, part) => sum + this.at(part), 1);
    this.known.set(node, count);
    return count;
  }

  private tried(node: JsonObject): unknown[] {
    const parts = SINGLES.filter((key) => key in node).map((key) => node[key]);
    for (const key of LISTS) if (Array.isArray(node[key])) parts.push(...node[key]);
    for (const key of MAPS) if (isObject(node[key])) parts.push(...Object.values(node[key]));
    for (const key of REFERENCES) if (typeof node[key] === 'string') parts.push(this.target(node[key]));
    return parts;
  }

  private target(reference: string): unknown {
    if (reference === '#' || reference === '') return this.root;
    if (!reference.startsWith('#/')) return this.addresses.get(reference);
    let at: unknown = this.root;
    for (const part of reference.slice(2).split('/')) {
      const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
      at = typeof at === 'object' && at !== null ? (at as JsonObject)[key] : undefined;
    }
    return at;
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function everyObject(root: JsonObject): JsonObject[] {
  const found: JsonObject[] = [];
  const waiting: unknown[] = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (Array.isArray(node)) waiting.push(...node.filter((item) => typeof item === 'object'));
    else if (isObject(node)) {
      found.push(node);
      waiting.push(...Object.values(node).filter((value) => typeof value === 'object'));
    }
  }
  return found;
}
