import type { CallFilter, FilterTerm, FilterValue } from '@mcpbridge/shared/call-filter.js';
import { ERROR_TABLE } from '@mcpbridge/shared/errors.js';
import { type RawBuilder, sql } from 'kysely';

type Condition = RawBuilder<boolean>;

/** Keys of the filter grammar and the columns that they speak of. */
const COLUMNS: Record<string, string> = {
  server: 'server',
  tool: 'tool',
  session: 'session_id',
  client: 'client',
  project: 'project',
  principal: 'principal',
  kind: 'kind',
  via: 'via',
  id: 'id',
  parent: 'parent',
  code: 'error_code',
};
const TEXT_COLUMNS = ['server', 'tool', 'arguments', 'error_message', 'error_code', 'client', 'session_id'];

/** What `matchesCall` says of a row, as SQL over the table. */
export function whereOf({ terms }: CallFilter): Condition[] {
  return terms.map((term) => {
    const any = sql<boolean>`(${sql.join(
      term.values.map((value) => condition(term, value)),
      sql` or `,
    )})`;
    // What is null is no match, so its opposite is one.
    return term.not ? sql<boolean>`not coalesce(${any}, 0)` : any;
  });
}

function condition({ key }: FilterTerm, value: FilterValue): Condition {
  if ('number' in value) {
    const measured = key === 'dur' ? sql`duration_ms` : sql`(argument_bytes + result_bytes)`;
    return sql<boolean>`${measured} ${sql.raw(value.compare)} ${value.number}`;
  }
  const { is } = value;
  if (key === 'text') return containsWords(is);
  if (key.startsWith('arg.')) return argumentIs(key.slice('arg.'.length), is);
  if (key === 'status') return statusIs(is);
  if (key === 'layer') return layerIs(is);
  if (key === 'client') return like(sql`client`, `${is}*`);
  return matches(sql.ref(COLUMNS[key] ?? key), is);
}

function containsWords(words: string): Condition {
  const found = TEXT_COLUMNS.map((column) => like(sql.ref(column), `*${words}*`));
  return sql<boolean>`(${sql.join(
    found.map((one) => sql`coalesce(${one}, 0)`),
    sql` or `,
  )})`;
}

/** Arguments that were cut are no JSON, and nothing can be said of their parts. */
function argumentIs(path: string, pattern: string): Condition {
  const place = `$${path
    .split('.')
    .map((name) => `."${name}"`)
    .join('')}`;
  const value = sql`case json_type(arguments, ${place}) when 'true' then 'true' when 'false' then 'false' else cast(arguments ->> ${place} as text) end`;
  return sql<boolean>`(case when arguments_cut = 0 then ${matches(value, pattern)} end)`;
}

/** Running and waiting calls are not stored. */
function statusIs(pattern: string): Condition {
  const stored = {
    ok: ['ok'],
    failed: ['failed', 'tool_error'],
    refused: ['refused'],
    cancelled: ['cancelled'],
  };
  const outcomes = Object.entries(stored).flatMap(([status, all]) => (isLike(status, pattern) ? all : []));
  if (outcomes.length === 0) return sql<boolean>`0`;
  const among = sql<boolean>`outcome in (${sql.join(outcomes.map((outcome) => sql.lit(outcome)))})`;
  // In words that the index of what did not succeed is made for.
  return outcomes.includes('ok') ? among : sql<boolean>`(outcome <> 'ok' and ${among})`;
}

function layerIs(pattern: string): Condition {
  const codes = Object.entries(ERROR_TABLE).flatMap(([code, { layer }]) =>
    isLike(layer, pattern) ? [code] : [],
  );
  return codes.length === 0 ? sql<boolean>`0` : sql<boolean>`error_code in (${sql.join(codes)})`;
}

function matches(column: RawBuilder<unknown>, pattern: string): Condition {
  return pattern.includes('*') ? like(column, pattern) : sql<boolean>`${column} = ${pattern}`;
}

function like(column: RawBuilder<unknown>, pattern: string): Condition {
  const escaped = pattern.replaceAll(/[\\%_]/g, '\\$&').replaceAll(/\*+/g, '%');
  return sql<boolean>`${column} like ${escaped} escape '\\'`;
}

/** For our own few words. */
function isLike(word: string, pattern: string): boolean {
  if (!pattern.includes('*')) return word === pattern;
  return new RegExp(`^${pattern.replaceAll(/[^*\w]/g, '').replaceAll(/\*+/g, '.*')}$`, 'i').test(word);
}
