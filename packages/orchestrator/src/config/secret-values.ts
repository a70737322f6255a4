import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { hides } from './mask-value.js';
import type { ConfiguredServer } from './server-entry.js';

/** Shorter ones are words. */
const MIN_LENGTH = 6;
/** Letters and digits without a space, as only keys have them at such length. */
const RANDOM = /^(?=.*\d)(?=.*[A-Za-z])[\w.~+/=-]{20,}$/;

/** Every value of the configuration that must be seen nowhere: what stands under a secret's name, and what looks random. */
export function secretValues(servers: readonly ConfiguredServer[]): Set<string> {
  const found = new Set<string>();
  for (const server of servers) if ('entry' in server) collect('', server.entry, found);
  return found;
}

/** Of a program's environment: what stands under the name of a secret or a key. */
export function secretsInEnvironment(env: NodeJS.ProcessEnv): Set<string> {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(env))
    collect(/_KEY$/.test(name) ? 'key' : name, value, found, false);
  return found;
}

/** Of variables: what stands under a secret's name, and what looks random. */
export function secretsAmong(variables: Readonly<Record<string, string | undefined>>): Set<string> {
  const found = new Set<string>();
  collect('', variables, found);
  return found;
}

function collect(name: string, value: unknown, found: Set<string>, alsoRandom = true): void {
  if (typeof value === 'string') {
    const bare = value.replace(/^(Bearer|Basic|Token) /i, '');
    if (bare.length >= MIN_LENGTH && (hides(name) || (alsoRandom && RANDOM.test(bare))) && !isPlace(bare))
      found.add(bare);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collect(flagOf(value[index - 1]), afterName(item, found), found);
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) collect(key, inner, found);
  }
}

/** `--token x`: the word before it is its name. */
function flagOf(before: unknown): string {
  return typeof before === 'string' && before.startsWith('-') ? before : '';
}

/** `--token=x` and `TOKEN=x` bring their name along. */
function afterName(item: unknown, found: Set<string>): unknown {
  const [, name, value] = typeof item === 'string' ? (/^(-*\w[\w-]*)=(.+)$/s.exec(item) ?? []) : [];
  if (name === undefined) return item;
  collect(name, value, found);
  return undefined;
}

function isPlace(text: string): boolean {
  return text.startsWith('/') || text.includes('://');
}
