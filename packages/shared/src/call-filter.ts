import { CALL_STATUSES } from './call-row.js';

/** Keys of the filter grammar besides `arg.path`. */
export const FILTER_KEYS = [
  ...['server', 'tool', 'session', 'client', 'project', 'principal', 'kind', 'via', 'id', 'parent'],
  ...['status', 'code', 'layer', 'dur', 'size'],
] as const;

/** Of one key, or of the text when `key` is "text"; alternatives in `values`. */
export interface FilterTerm {
  key: string;
  not: boolean;
  values: FilterValue[];
  /** Where it stands in the filter. */
  start: number;
  end: number;
}

/** A text with `*` for any characters, or a bound in milliseconds or bytes. */
export type FilterValue = { is: string } | { compare: '>' | '<' | '>=' | '<='; number: number };

export interface FilterFault {
  start: number;
  end: number;
  /** A sentence: what is wrong, and what may stand there. */
  message: string;
}

export interface CallFilter {
  terms: FilterTerm[];
  /** Pieces that mean nothing; they are not among the terms. */
  faults: FilterFault[];
}

/** `-`, then `key:` or `arg.path:`, then values with commas between; a value may stand in quotes. */
const PIECE = /(-?)(?:([A-Za-z][\w.$-]*):)?((?:"(?:[^"\\]|\\.)*"?|[^\s"])+)/g;
const VALUE = /"((?:[^"\\]|\\.)*)"?|[^,"]+/g;
const TIMES: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const SIZES: Record<string, number> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };
/** What people call a state, and what it is here. */
const STATUS_WORDS: Record<string, string> = { error: 'failed', success: 'ok' };

/**
 * Reads the one grammar of the page, `GET /api/calls`, the stream and the export: words and `key:value` with `,` for
 * or, `-` for not, `*` for any, and `>` `<` with units: `server:github,fs -tool:list_* dur:>1s size:>100kb arg.path:src/*`.
 */
export function parseCallFilter(text: string): CallFilter {
  const filter: CallFilter = { terms: [], faults: [] };
  for (const match of text.matchAll(PIECE)) {
    const [piece, minus = '', key = 'text', rest = ''] = match;
    const at = { start: match.index, end: match.index + piece.length };
    try {
      filter.terms.push({
        key: key.startsWith('arg.') ? key : key.toLowerCase(),
        not: minus === '-',
        values: valuesOf(key, rest),
        ...at,
      });
    } catch (fault) {
      filter.faults.push({ ...at, message: (fault as Error).message });
    }
  }
  return filter;
}

/** The filter as text again, without the pieces that meant nothing. */
export function writeCallFilter(terms: readonly FilterTerm[]): string {
  return terms.map(writeTerm).join(' ');
}

function valuesOf(key: string, text: string): FilterValue[] {
  const name = key.toLowerCase();
  if (key.startsWith('arg.')) {
    if (!/^arg(\.[\w$-]+)+$/.test(key)) throw new Error(`"${key}" names no argument; write arg.path:value.`);
  } else if (name !== 'text' && !FILTER_KEYS.some((known) => known === name)) {
    throw new Error(
      `There is no key "${key}". Keys are ${FILTER_KEYS.join(', ')} and arg.NAME; put words with a colon into quotes.`,
    );
  }
  const values =
    name === 'text'
      ? [unquoted(text)]
      : [...text.matchAll(VALUE)].map(([value, quoted]) =>
          quoted === undefined ? value : unescaped(quoted),
        );
  if (values.every((value) => value === '')) throw new Error(`"${key}:" has no value.`);
  if (name === 'dur') return values.map((value) => bound(value, TIMES, 'dur:>1s, dur:<250ms'));
  if (name === 'size') return values.map((value) => bound(value, SIZES, 'size:>100kb, size:<1mb'));
  if (name === 'status') return values.map(statusValue);
  return values.map((is) => ({ is }));
}

function statusValue(value: string): FilterValue {
  const word = STATUS_WORDS[value.toLowerCase()] ?? value.toLowerCase();
  if (value.includes('*') || CALL_STATUSES.some((known) => known === word)) return { is: word };
  throw new Error(`There is no status "${value}". It is one of ${CALL_STATUSES.join(', ')}.`);
}

function bound(value: string, units: Record<string, number>, example: string): FilterValue {
  const match = /^([<>]=?)(\d+(?:\.\d+)?)([a-z]*)$/i.exec(value);
  const [first = ''] = Object.keys(units);
  const unit = units[(match?.[3] || first).toLowerCase()];
  if (!match || unit === undefined) throw new Error(`"${value}" is no bound; write for example ${example}.`);
  return { compare: match[1] as '>', number: Number(match[2]) * unit };
}

function unquoted(text: string): string {
  return text.replaceAll(/"((?:[^"\\]|\\.)*)"?/g, (_, inner: string) => unescaped(inner));
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1');
}

function writeTerm({ key, not, values }: FilterTerm): string {
  const texts = values.map((value) =>
    'is' in value ? quoted(value.is, key === 'text') : `${value.compare}${value.number}`,
  );
  return `${not ? '-' : ''}${key === 'text' ? '' : `${key}:`}${texts.join(',')}`;
}

function quoted(text: string, isWord: boolean): string {
  const plain = isWord ? /^[^\s":-][^\s":]*$/ : /^[^\s",]+$/;
  return plain.test(text) ? text : `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
