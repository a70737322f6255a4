import { create } from 'jsondiffpatch';

export interface Change {
  /** JSON pointer. */
  path: string;
  was?: unknown;
  is?: unknown;
}

const differ = create({
  objectHash: (item: object, index?: number) => {
    const { id, name, uri } = item as { id?: unknown; name?: unknown; uri?: unknown };
    return String(id ?? name ?? uri ?? `$${index}`);
  },
});

/** Where two values differ, member by member, elements of lists matched by their id. */
export function differences(was: unknown, is: unknown): Change[] {
  const changes: Change[] = [];
  collect(differ.diff(was, is), '', changes);
  return changes;
}

function collect(delta: unknown, path: string, into: Change[]): void {
  if (delta === undefined) return;
  if (Array.isArray(delta)) {
    const [first, second, kind] = delta;
    if (delta.length === 1) into.push({ path, is: first });
    else if (delta.length === 2) into.push({ path, was: first, is: second });
    else if (kind === 0) into.push({ path, was: first });
    return;
  }
  const members = delta as Record<string, unknown>;
  const isList = members._t === 'a';
  for (const [key, inner] of Object.entries(members)) {
    if (isList && key === '_t') continue;
    const name = isList ? key.replace(/^_/, '') : key.replaceAll('~', '~0').replaceAll('/', '~1');
    collect(inner, `${path}/${name}`, into);
  }
}
