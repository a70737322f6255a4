import { isObject, type JsonObject, RPC, RpcFailure, type RpcRequest } from '@mcpbridge/shared/json-rpc.js';
import { paramHeaders } from '@mcpbridge/shared/param-headers.js';
import {
  claimedVersion,
  META,
  MODERN_VERSIONS,
  namedTarget,
  readHeaderValue,
} from '@mcpbridge/shared/protocol.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import type { Exchange } from '../http/exchange.js';
import type { ModernTerms } from '../providers/provider.js';

/** @throws RpcFailure as the 2026-07-28 specification has it: missing metadata, headers that differ from the body, unsupported version. */
export function checkEnvelope(exchange: Exchange, message: RpcRequest): void {
  const version = claimedVersion(message);
  const meta = message.params?._meta;
  for (const key of [META.protocolVersion, META.clientCapabilities]) {
    if (!isObject(meta) || meta[key] === undefined)
      throw new RpcFailure(RPC.invalidParams, `_meta["${key}"] is missing.`);
  }
  checkHeader(exchange, HEADER.mcpVersion, version);
  if (!MODERN_VERSIONS.some((known) => known === version)) {
    const data = { supported: MODERN_VERSIONS, requested: version };
    throw new RpcFailure(
      RPC.unsupportedVersion,
      `Protocol version ${JSON.stringify(version)} is not supported.`,
      data,
    );
  }
  checkHeader(exchange, HEADER.mcpMethod, message.method);
  const named = namedTarget(message.method, message.params);
  if (named !== undefined) checkHeader(exchange, HEADER.mcpName, named);
}

/**
 * The `Mcp-Param-*` headers that the tool's schema asks for. A bridge speaks for a client without headers and does not
 * know schemas; it names its session, and what it does not say is not missed.
 */
export function checkParamHeaders(exchange: Exchange, tool: ToolDefinition, args: unknown): void {
  const fromBridge = exchange.request.headers[HEADER.session] !== undefined;
  const expected = paramHeaders(tool.inputSchema, isObject(args) ? args : {});
  for (const [name, value] of Object.entries(expected)) {
    const key = name.toLowerCase();
    if (fromBridge && exchange.request.headers[key] === undefined) continue;
    checkHeader(exchange, key, readHeaderValue(value));
  }
}

/** Whoever decides by a header must be able to trust that the body says the same (SEP-2243). */
function checkHeader({ request }: Exchange, name: string, inBody: unknown): void {
  const value = request.headers[name];
  if (typeof value === 'string' && readHeaderValue(value) === inBody) return;
  const said = value === undefined ? 'is missing' : `says ${JSON.stringify(value)}`;
  throw new RpcFailure(RPC.headerMismatch, `The ${name} header ${said}, the body ${JSON.stringify(inBody)}.`);
}

/** What the request says for itself alone, for an upstream of the same era. */
export function termsOf(params: JsonObject): ModernTerms {
  const meta = isObject(params._meta) ? params._meta : {};
  const { inputResponses, requestState } = params;
  const capabilities = meta[META.clientCapabilities];
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(meta[META.clientInfo] === undefined ? {} : { clientInfo: meta[META.clientInfo] }),
    ...(meta[META.logLevel] === undefined ? {} : { logLevel: meta[META.logLevel] }),
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(requestState === undefined ? {} : { requestState }),
  };
}

export function clientName(params: JsonObject): string {
  const info = isObject(params._meta) ? params._meta[META.clientInfo] : undefined;
  return isObject(info) ? `${info.name ?? 'unknown'} ${info.version ?? ''}`.trim() : 'unknown';
}
