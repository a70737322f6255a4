import { type JsonObject, RPC, type RpcError, type RpcRequest } from '@mcpbridge/shared/json-rpc.js';
import { LATEST_LEGACY, LEGACY_VERSIONS, META, MODERN_VERSIONS } from '@mcpbridge/shared/protocol.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import { SERVER_INFO } from './version.js';

export type ListedAnswer = { result: object } | { error: RpcError };

const CAPABILITIES = { tools: {} };
/** The list never changes while the bridge lives. */
const MODERN_LIST = { ttlMs: 3_600_000, cacheScope: 'private' };

/** The answer to every request but a call; `version` is what a modern request claims, undefined in a legacy one. */
export function answerWithoutHttp(
  { method, params }: RpcRequest,
  version: unknown,
  tools: readonly ToolDefinition[],
  instructions?: string,
): ListedAnswer {
  const modern = version !== undefined;
  if (!isSpoken(version)) return refuseVersion(String(version));
  switch (method) {
    case 'initialize':
      return complete(false, {
        protocolVersion: agreeOn(params?.protocolVersion),
        capabilities: CAPABILITIES,
        serverInfo: SERVER_INFO,
        ...told(instructions),
      });
    case 'server/discover':
      return complete(true, { ...discovery(), ...told(instructions) });
    case 'ping':
      return complete(modern, {});
    case 'tools/list':
      return complete(modern, modern ? { tools, ...MODERN_LIST } : { tools });
    default:
      return {
        error: {
          code: RPC.methodNotFound,
          message: `"${method}" is not offered here: this server has tools only.`,
        },
      };
  }
}

/** Results of the modern era say that they are one. */
export function complete(modern: boolean, result: JsonObject): { result: JsonObject } {
  return { result: modern ? { resultType: 'complete', ...result } : result };
}

/** True for legacy requests, too, which claim no version. */
export function isSpoken(version: unknown): boolean {
  return version === undefined || MODERN_VERSIONS.some((known) => known === version);
}

function discovery(): JsonObject {
  return {
    supportedVersions: MODERN_VERSIONS,
    capabilities: CAPABILITIES,
    ...MODERN_LIST,
    _meta: { [META.serverInfo]: SERVER_INFO },
  };
}

function told(instructions: string | undefined): JsonObject {
  return instructions === undefined ? {} : { instructions };
}

function refuseVersion(requested: string): ListedAnswer {
  return {
    error: {
      code: RPC.unsupportedVersion,
      message: `The protocol version ${requested} is not spoken here.`,
      data: { supported: MODERN_VERSIONS, requested },
    },
  };
}

function agreeOn(wanted: unknown): string {
  return LEGACY_VERSIONS.find((known) => known === wanted) ?? LATEST_LEGACY;
}
