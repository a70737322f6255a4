import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { isSecretName } from '@mcpbridge/shared/redact.js';
import { isAllPlaceholders } from './placeholders.js';

/** Stands for a value that is stored and not shown; given back, it means "as it is". */
export const MASK = '********';

/** Names that sound secret and hold places, addresses or methods. */
const HARMLESS_NAME = /(file|path|url|uri|endpoint|method|type)s?$/i;
/** Beginnings that services give to their keys, and JSON web tokens; with a digit, as no word or package has them. */
const KEY =
  /^(sk-|sk_|pk_|rk_|gh[opsu]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ|npm_|hf_|lin_api_|ntn_)(?=.*\d)[-_.A-Za-z0-9]{14,}$/;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

/** What stands under a name somewhere in an entry. */
export function maskField(name: string, value: unknown): unknown {
  if ((name === 'env' || name === 'headers') && isObject(value)) {
    return mapValues(value, (_, inner) => maskWhole(inner));
  }
  if (hides(name) && typeof value !== 'boolean') return maskWhole(value);
  if (Array.isArray(value)) return value.map((item) => maskField('', item));
  if (isObject(value)) return mapValues(value, maskField);
  return typeof value === 'string' ? maskText(value) : value;
}

/** Shows a value only where it is made of placeholders, after a word such as `Bearer` at most. */
export function maskWhole(value: unknown): unknown {
  if (value === null || value === '') return value;
  if (typeof value !== 'string') return MASK;
  return isAllPlaceholders(value.replace(/^(Bearer|Basic|Token) /i, '')) ? value : MASK;
}

export function hides(name: string): boolean {
  return (isSecretName(name) || /^-*key$/i.test(name)) && !HARMLESS_NAME.test(name);
}

/** What no name gives away: keys that look like keys, passwords and queries of addresses, `Password=…`, JSON. */
export function maskText(text: string): string {
  if (KEY.test(text)) return MASK;
  if (/^\s*["{[]/.test(text)) return maskJson(text);
  if (ADDRESS.test(text)) {
    return text
      .replace(/^([^/]*\/\/)([^/?#]*)@/, (_, scheme: string, user: string) => `${scheme}${maskWhole(user)}@`)
      .replace(/([?&][^=&#]*=)([^&#]*)/g, (_, name: string, value: string) => `${name}${maskWhole(value)}`);
  }
  return text.replace(/([A-Za-z_ -]+)=([^;&\s]+)/g, (all, name: string, value: string) =>
    hides(name.trim()) ? `${name}=${maskWhole(value)}` : all,
  );
}

/** Some servers take their settings as JSON in an argument, at times as JSON within JSON. */
function maskJson(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Only looked like JSON.
    return text;
  }
  if (typeof value === 'string') return JSON.stringify(maskText(value));
  return isObject(value) || Array.isArray(value) ? JSON.stringify(maskField('', value)) : text;
}

export function mapValues(object: JsonObject, change: (name: string, value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(name, value)]));
}
