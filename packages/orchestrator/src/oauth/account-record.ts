import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';

/** Tokens as the login service gave them. */
export interface Tokens extends JsonObject {
  access_token: string;
  refresh_token?: string;
  scope?: string;
  /** Seconds, from `obtained_at` on. */
  expires_in?: number;
  /** Milliseconds since the epoch, by this machine's clock. */
  obtained_at?: number;
  /** Who issued them: they are sent to no other login service. */
  issuer?: string;
}

/** What is kept of one account at one server. */
export interface AccountRecord {
  /** The server's address: tokens of one server never go to another. */
  url?: string;
  tokens?: Tokens;
  /** As which client we are registered there; bound to its issuer. */
  client?: JsonObject;
  /** What was found out about the login service. */
  discovery?: JsonObject;
  /** The `resource` of token requests (RFC 8707). */
  resource?: string;
  /** What the server asked for when it refused us. */
  wanted?: { resourceMetadataUrl?: string; scope?: string };
  /** Why there are no good tokens, a sentence for people. */
  problem?: string;
  /** Sign-ins for more scope, one after the other, that did not help. */
  stepUps?: number;
}

/** Of a file's content; a plain answer of a token endpoint, as other programs keep it, is understood too. */
export function readRecord(value: unknown, url: string): AccountRecord {
  if (!isObject(value)) return {};
  const record = (typeof value.access_token === 'string' ? { tokens: value } : value) as AccountRecord;
  return record.url === undefined || record.url === url ? record : {};
}

/** When the access token ends, in milliseconds since the epoch; undefined: nobody said. */
export function endOf({ expires_in: seconds, obtained_at: at }: Tokens): number | undefined {
  return seconds === undefined || at === undefined ? undefined : at + seconds * 1000;
}
