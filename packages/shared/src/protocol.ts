import { isObject, type JsonObject } from './json-rpc.js';

/** Revisions with the `initialize` handshake, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Stateless revisions: every request says its version in `_meta`. */
export const MODERN_VERSIONS = ['2026-07-28'] as const;
export const LATEST_LEGACY = LEGACY_VERSIONS[0];
export const LATEST_MODERN = MODERN_VERSIONS[0];

export type Era = 'legacy' | 'modern';

/** Keys in `_meta` of the modern era (specification 2026-07-28, "Per-request metadata"). */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

export function metaOf(message: object): JsonObject | undefined {
  const params = 'params' in message ? message.params : undefined;
  return isObject(params) && isObject(params._meta) ? params._meta : undefined;
}

/** The version that a modern message claims; undefined for a legacy one. */
export function claimedVersion(message: object): unknown {
  return metaOf(message)?.[META.protocolVersion];
}

const NAMED_BY: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** The name that `Mcp-Name` mirrors: of the tool or prompt, the resource's address, the task's id. */
export function namedTarget(method: string, params: JsonObject | undefined): string | undefined {
  const member = NAMED_BY[method];
  const value = member && params?.[member];
  return typeof value === 'string' ? value : undefined;
}

/** A header value as the modern era wants it: plain when printable ASCII, else `=?base64?…?=`. */
export function headerValue(text: string): string {
  const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  return plain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

/** The text of such a value; undefined when its Base64 is not to the letter, which no honest sender writes. */
export function readHeaderValue(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}
