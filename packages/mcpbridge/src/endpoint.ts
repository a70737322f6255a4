import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { claimedVersion, headerValue, namedTarget } from '@mcpbridge/shared/protocol.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import type { RawHeaders } from './attempt.js';
import type { Answer, Connection } from './connection.js';
import { BridgeFailure, readRefusal } from './failure.js';

export const MCP_HEADERS: RawHeaders = [
  'Content-Type',
  'application/json',
  'Accept',
  'application/json, text/event-stream',
];

/** The headers by which a modern message says over HTTP what it is; undefined for a legacy one. */
export function modernHeaders(message: JsonObject): RawHeaders | undefined {
  const version = claimedVersion(message);
  if (typeof version !== 'string' || typeof message.method !== 'string') return undefined;
  const name = namedTarget(message.method, isObject(message.params) ? message.params : undefined);
  const headers = [HEADER.mcpVersion, headerValue(version), HEADER.mcpMethod, headerValue(message.method)];
  return name === undefined ? headers : [...headers, HEADER.mcpName, headerValue(name)];
}

/** The failure that an answer of 400 and above stands for. */
export function refusalOf(answer: Answer, refusal: Buffer, connection: Connection): BridgeFailure {
  if (answer.status === 401) return connection.refused();
  return new BridgeFailure(readRefusal(answer.status, refusal));
}
