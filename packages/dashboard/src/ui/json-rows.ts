/** One line of a JSON tree: a member, an element, or the value itself. */
export interface JsonRow {
  /** JSON pointer; empty for the whole. */
  path: string;
  name: string | number | undefined;
  value: unknown;
  depth: number;
  /** Members of an object or elements of a list; undefined for what cannot be opened. */
  size: number | undefined;
  isOpen: boolean;
}

export const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The rows that are to be seen: those below what is open. Linear in what is open, not in the document. */
export function rowsOf(value: unknown, isOpen: (path: string, depth: number) => boolean): JsonRow[] {
  const rows: JsonRow[] = [];
  const add = (inner: unknown, name: JsonRow['name'], path: string, depth: number) => {
    const branch = isBranch(inner);
    const size = branch ? (Array.isArray(inner) ? inner.length : Object.keys(inner).length) : undefined;
    const open = size !== undefined && size > 0 && isOpen(path, depth);
    rows.push({ path, name, value: inner, depth, size, isOpen: open });
    if (!open || !branch) return;
    if (Array.isArray(inner)) {
      for (const [index, each] of inner.entries()) add(each, index, `${path}/${index}`, depth + 1);
      return;
    }
    for (const [key, each] of Object.entries(inner))
      add(each, key, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1);
  };
  add(value, undefined, '', 0);
  return rows;
}

/** Pointers of all members whose name or value holds the words, and of what they lie in. */
export function findIn(value: unknown, words: string): { hits: string[]; around: Set<string> } {
  const wanted = words.toLowerCase();
  const hits: string[] = [];
  const around = new Set<string>();
  const trail: string[] = [];
  const visit = (inner: unknown, name: string, path: string) => {
    const own = isBranch(inner) ? name : `${name}\n${String(inner)}`;
    if (own.toLowerCase().includes(wanted)) {
      hits.push(path);
      for (const above of trail) around.add(above);
    }
    if (!isBranch(inner)) return;
    trail.push(path);
    for (const [key, each] of Object.entries(inner))
      visit(each, key, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    trail.pop();
  };
  visit(value, '', '');
  return { hits, around };
}
