import { isObject, type JsonObject } from './json-rpc.js';
import { headerValue } from './protocol.js';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * The `Mcp-Param-*` headers of a call: the modern era over HTTP mirrors each argument whose schema says
 * `x-mcp-header`, so that proxies can route by it, and its servers refuse a call without them.
 */
export function paramHeaders(schema: JsonObject, args: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {};
  collect(schema, args, headers);
  return headers;
}

function collect(schema: JsonObject, args: JsonObject, headers: Record<string, string>): void {
  if (!isObject(schema.properties)) return;
  for (const [key, property] of Object.entries(schema.properties)) {
    const value = args[key];
    if (!isObject(property) || value === undefined || value === null) continue;
    const name = property['x-mcp-header'];
    const text = headerText(value);
    if (typeof name === 'string' && TOKEN.test(name) && text !== undefined) {
      headers[`Mcp-Param-${name}`] = headerValue(text);
    }
    if (isObject(value)) collect(property, value, headers);
  }
}

function headerText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return undefined;
}
