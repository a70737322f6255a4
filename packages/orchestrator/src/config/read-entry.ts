import { parseDuration } from '@mcpbridge/shared/duration.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { shapeFaults } from './entry-shape.js';
import { isSwitchedOff, type MergedServer } from './merge-servers.js';
import { fillPlaceholders, type Missing } from './placeholders.js';
import { readTransport } from './read-transport.js';
import type { EntryContext, Reading } from './reading.js';
import type { ConfiguredServer, ServerEntry } from './server-entry.js';

const SERVER_ID = /^[A-Za-z0-9_. -]{1,64}$/;
/** Ids of our own providers. */
const RESERVED = new Set(['custom', 'virtual', 'workspace']);

/** Makes one definition of the files into a server; a fault in it is that server's alone. */
export function readEntry(id: string, server: MergedServer, context: EntryContext): ConfiguredServer {
  const { origin, raw } = server;
  const faults = idFaults(id);
  if (!isObject(raw)) {
    faults.push('Its definition must be an object: {"command": …}, {"url": …} or {"docker": …}.');
    return { id, origin, state: 'faulty', faults, raw: {} };
  }
  faults.push(...shapeFaults(raw));
  if (faults.length === 0 && isSwitchedOff(raw)) return { id, origin, state: 'disabled', raw };
  const entry = entryOf(id, raw, context, faults);
  if (faults.length > 0 || !entry) return { id, origin, state: 'faulty', faults, raw };
  return { id, origin, state: 'usable', entry, raw };
}

function idFaults(id: string): string[] {
  if (!SERVER_ID.test(id) || id.trim() !== id) {
    return [
      `The name "${id}" must be 1 to 64 letters, digits or any of "_", "-", ".", and spaces between them.`,
    ];
  }
  return RESERVED.has(id)
    ? [`The name "${id}" is that of the orchestrator's own tools; choose another.`]
    : [];
}

function entryOf(
  id: string,
  raw: JsonObject,
  context: EntryContext,
  faults: string[],
): ServerEntry | undefined {
  const reading: Reading = {
    raw,
    context,
    faults,
    fill: (field, value) =>
      fillPlaceholders(String(value), context, (missing) => {
        faults.push(`"${field}" of "${id}" ${lackOf(missing)}.`);
      }),
  };
  const transport = readTransport(reading);
  const timeoutMs = durationOf('timeout', reading);
  const startTimeoutMs = durationOf('startTimeout', reading);
  const warm = warmOf(raw.warm);
  if (!transport) return undefined;
  if (warm > 0 && 'url' in transport)
    faults.push('"warm" keeps processes ready, and a server with a "url" has none; take it out.');
  return {
    id,
    transport,
    isolation: raw.isolation === 'shared' ? 'shared' : 'session',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(startTimeoutMs === undefined ? {} : { startTimeoutMs }),
    ...(warm > 0 ? { warm } : {}),
    ...(isObject(raw.turns) ? { turns: turnsOf(raw.turns) } : {}),
    ...(typeof raw.description === 'string' ? { description: raw.description } : {}),
  };
}

function lackOf({ placeholder, name, kind, why }: Missing): string {
  if (kind === 'variable') return `needs the environment variable "${name}", which is not set`;
  if (kind === 'secret') return `needs the secret "${name}", which ${why}`;
  return `has ${placeholder}, which only VS Code can ask for; use an environment variable`;
}

function warmOf(value: unknown): number {
  return typeof value === 'number' ? value : value === true ? 1 : 0;
}

/** `{"write_*": ["path"]}`; the shape has been checked. */
function turnsOf(rules: JsonObject): ServerEntry['turns'] {
  return Object.entries(rules).map(([pattern, names]) => ({
    tools: new RegExp(`^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`),
    arguments: names as string[],
  }));
}

function durationOf(field: string, { raw, faults }: Reading): number | undefined {
  const value = raw[field];
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const ms = parseDuration(String(value));
  if (ms === undefined)
    faults.push(`"${field}" is "${value}"; write a time such as "30s" or "5m", or milliseconds.`);
  return ms;
}
