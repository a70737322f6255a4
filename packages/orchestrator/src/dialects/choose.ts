import { type DialectName, readDialectName, unknownDialect } from '@mcpbridge/shared/dialect-names.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { Dialect } from './dialect.js';
import { DIALECTS } from './table.js';

const whole = new Map<string, Dialect>();
const beginnings: [string, Dialect][] = [];
for (const dialect of Object.values(DIALECTS)) {
  for (const client of dialect.clients) {
    if (client.endsWith('*')) beginnings.push([client.slice(0, -1), dialect]);
    else whole.set(client, dialect);
  }
}

/**
 * The dialect of a client: what it (or its bridge) asked for, else what the operator set for all, else what suits who
 * it says it is. Undefined: untouched, as for every client that is not known.
 * @throws INVALID_REQUEST naming the dialects
 */
export function chooseDialect(
  asked: string | undefined,
  forAll: DialectName | undefined,
  clientInfo: unknown,
): Dialect | undefined {
  const name = asked === undefined ? forAll : askedFor(asked);
  if (name !== undefined) return name === 'off' ? undefined : DIALECTS[name];
  return isObject(clientInfo) && typeof clientInfo.name === 'string' ? ofClient(clientInfo.name) : undefined;
}

function askedFor(asked: string): DialectName {
  const name = readDialectName(asked);
  if (name === undefined) throw new AppError('INVALID_REQUEST', unknownDialect('X-MCP-Dialect', asked));
  return name;
}

/** Clients of the modern era say their name with each request; there are never many. */
const met = new Map<string, Dialect | undefined>();
const MOST_MET = 1000;

function ofClient(said: string): Dialect | undefined {
  if (met.has(said)) return met.get(said);
  if (met.size >= MOST_MET) met.clear();
  const dialect = ofName(said);
  met.set(said, dialect);
  return dialect;
}

/** mcp-remote and its like add themselves: `cursor-vscode (via mcp-remote 0.1.37)`. */
function ofName(said: string): Dialect | undefined {
  const name = said.toLowerCase().replace(/ \(via .*$/, '');
  return whole.get(name) ?? beginnings.find(([beginning]) => name.startsWith(beginning))?.[1];
}
