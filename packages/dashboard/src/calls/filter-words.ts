import { type FilterTerm, parseCallFilter, writeCallFilter } from '@mcpbridge/shared/call-filter.js';

const same = (key: string, value: string) => (term: FilterTerm) =>
  term.key === key && term.values.some((known) => 'is' in known && known.is === value);

/** The filter without the pieces that mean nothing: these stay in the bar, with what is wrong with them. */
export function readableFilter(query: string): string {
  const { terms, faults } = parseCallFilter(query);
  return faults.length === 0 ? query : writeCallFilter(terms);
}

/** The filter with one more piece; a piece that says the opposite goes. */
export function withTerm(query: string, key: string, value: string, not = false): string {
  const { terms } = parseCallFilter(query);
  const others = terms.filter((term) => !(same(key, value)(term) && term.values.length === 1));
  return writeCallFilter([...others, { key, not, values: [{ is: value }], start: 0, end: 0 }]);
}

export function withoutTerm(query: string, index: number): string {
  return writeCallFilter(parseCallFilter(query).terms.filter((_, at) => at !== index));
}

/** All pieces of `key` replaced by this one; undefined takes them away. */
export function withOnly(query: string, key: string, value: string | undefined): string {
  const others = parseCallFilter(query).terms.filter((term) => term.key !== key);
  if (value === undefined) return writeCallFilter(others);
  return writeCallFilter([...others, { key, not: false, values: [{ is: value }], start: 0, end: 0 }]);
}

export function hasTerm(query: string, key: string, value: string): boolean {
  return parseCallFilter(query).terms.some((term) => !term.not && same(key, value)(term));
}
