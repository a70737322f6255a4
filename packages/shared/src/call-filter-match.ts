import type { CallFilter, FilterTerm, FilterValue } from './call-filter.js';
import type { CallRow } from './call-row.js';
import { isObject } from './json-rpc.js';

/** What a filter looks at besides the row, as far as it is kept. */
export interface KeptTexts {
  /** JSON, unless it was cut. */
  arguments: string;
  message?: string | undefined;
}

/** Does a call fit all terms? The store answers the same question of stored calls in SQL. */
export function matchesCall(
  { terms }: CallFilter,
  row: CallRow,
  kept: KeptTexts = { arguments: row.args, message: row.error },
): boolean {
  return terms.every((term) => term.not !== term.values.some((value) => fits(term, value, row, kept)));
}

function fits({ key }: FilterTerm, value: FilterValue, row: CallRow, kept: KeptTexts): boolean {
  if ('number' in value) return compares(value, key === 'dur' ? row.ms : row.in + (row.out ?? 0));
  if (key === 'text') return textsOf(row, kept).some((text) => contains(text, value.is));
  if (key.startsWith('arg.')) return argumentFits(key.slice('arg.'.length), value.is, kept.arguments);
  return is(fieldOf(row, key), key === 'client' ? `${value.is}*` : value.is);
}

type Field =
  | 'server'
  | 'tool'
  | 'session'
  | 'client'
  | 'project'
  | 'principal'
  | 'via'
  | 'id'
  | 'parent'
  | 'status'
  | 'code'
  | 'layer';

function fieldOf(row: CallRow, key: string): string | undefined {
  return key === 'kind' ? (row.kind ?? 'mcp') : row[key as Field];
}

/** Where words are looked for. */
function textsOf(row: CallRow, kept: KeptTexts): (string | undefined)[] {
  return [row.server, row.tool, kept.arguments, kept.message, row.code, row.client, row.session];
}

function compares(
  { compare, number }: { compare: string; number: number },
  actual: number | undefined,
): boolean {
  if (actual === undefined) return false;
  if (compare === '>') return actual > number;
  if (compare === '<') return actual < number;
  return compare === '>=' ? actual >= number : actual <= number;
}

function argumentFits(path: string, pattern: string, kept: string): boolean {
  let value: unknown;
  try {
    value = JSON.parse(kept);
  } catch {
    // Cut: nothing can be said of its parts.
    return false;
  }
  for (const name of path.split('.'))
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (value === undefined || value === null) return false;
  return is(typeof value === 'object' ? JSON.stringify(value) : String(value), pattern);
}

function contains(text: string | undefined, words: string): boolean {
  return text !== undefined && isLike(lower(text), lower(`*${words}*`));
}

/** Names exactly, patterns in any case. */
function is(text: string | undefined, pattern: string): boolean {
  if (text === undefined) return false;
  return pattern.includes('*') ? isLike(lower(text), lower(pattern)) : text === pattern;
}

/** Letters A to Z alone have no case, as in SQLite's LIKE. */
function lower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Part by part and without a regular expression, so that no pattern takes long. */
function isLike(text: string, pattern: string): boolean {
  const [first = '', ...others] = pattern.split(/\*+/);
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
