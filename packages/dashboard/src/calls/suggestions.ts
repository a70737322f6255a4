import { FILTER_KEYS } from '@mcpbridge/shared/call-filter.js';
import { CALL_STATUSES } from '@mcpbridge/shared/call-row.js';
import { useQuery } from '@tanstack/react-query';
import { count } from '../text/units';
import { type ValueCount, valueCounts } from './counts';

export interface Suggestion {
  insert: string;
  note: string;
}

const NOTES: Record<string, string> = {
  server: 'of which server',
  tool: 'a tool by its own name',
  session: 'of which session',
  client: 'the program that called',
  project: 'the folder it works in',
  principal: 'whose call',
  kind: 'mcp, custom or virtual',
  via: 'page, replay, agent or call',
  id: 'one call',
  parent: 'made within that call',
  status: 'what became of it',
  code: 'code of the failure',
  layer: 'where it failed',
  dur: '>1s, <250ms',
  size: '>100kb',
};

const COUNTED = new Set([
  'server',
  'tool',
  'session',
  'client',
  'project',
  'principal',
  'code',
  'layer',
  'kind',
  'via',
  'status',
]);

/** The values of the key that is being typed, most frequent first, over the whole log. */
export function useSuggestions(isOpen: boolean, word: string, _text: string): ValueCount[] {
  const key = keyOf(word);
  const { data = [] } = useQuery({
    queryKey: ['counts', key],
    queryFn: () => valueCounts(key ?? ''),
    enabled: isOpen && key !== undefined && COUNTED.has(key),
    staleTime: 10_000,
  });
  return data;
}

const keyOf = (word: string) => /^-?(\w+):/.exec(word)?.[1];

export function suggestionsFor(word: string, values: readonly ValueCount[]): Suggestion[] {
  const not = word.startsWith('-') ? '-' : '';
  const key = keyOf(word);
  if (key === undefined) {
    const begun = word.slice(not.length).toLowerCase();
    return FILTER_KEYS.filter((known) => known.startsWith(begun) && known !== begun).map((known) => ({
      insert: `${not}${known}:`,
      note: NOTES[known] ?? '',
    }));
  }
  const begun = word.slice(word.indexOf(':') + 1).toLowerCase();
  const known: readonly ValueCount[] =
    key === 'status' && values.length === 0
      ? CALL_STATUSES.map((value) => ({ value, calls: undefined }))
      : values;
  return known
    .filter(
      ({ value }) => value !== '' && value.toLowerCase().includes(begun) && value.toLowerCase() !== begun,
    )
    .slice(0, 12)
    .map(({ value, calls }) => ({
      insert: `${not}${key}:${/[\s",]/.test(value) ? JSON.stringify(value) : value}`,
      note: calls === undefined ? '' : `${count(calls)} calls`,
    }));
}
