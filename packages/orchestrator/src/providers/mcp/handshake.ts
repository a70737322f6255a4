import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import { type Era, LATEST_LEGACY, LATEST_MODERN, META, MODERN_VERSIONS } from '@mcpbridge/shared/protocol.js';
import { VERSION } from '../../version.js';
import type { Opened } from '../provider.js';
import type { Peer } from './peer.js';
import type { Transport } from './transport.js';

const CLIENT_INFO = { name: 'mcpbridge-orchestrator', title: 'mcpbridge orchestrator', version: VERSION };

/**
 * `initialize`; a server that refuses it may know the modern era alone, so it is asked by `server/discover` in the
 * same process. In this order because most servers are legacy, and some never answer a method they do not know;
 * in the other for a server that was modern the last time.
 */
export async function shakeHands(
  server: string,
  peer: Peer,
  transport: Transport,
  capabilities: JsonObject,
  signal: CancelSignal,
  lastEra: Era = 'legacy',
): Promise<Opened> {
  const initialize = async () => {
    const params = { protocolVersion: LATEST_LEGACY, capabilities, clientInfo: CLIENT_INFO };
    const opened = readInitialize(server, await peer.request('initialize', params, { signal }));
    transport.agreed(opened.version);
    peer.notify('notifications/initialized');
    return opened;
  };
  const discover = async () => {
    const params = { _meta: modernMeta(capabilities) };
    return readDiscover(server, await peer.request('server/discover', params, { signal }));
  };
  const [first, second] = lastEra === 'modern' ? [discover, initialize] : [initialize, discover];
  try {
    return await first();
  } catch (refusal) {
    if (!(refusal instanceof RpcFailure)) throw refusal;
    return second().catch((error) => {
      if (!(error instanceof RpcFailure)) throw error;
      const sentence = `Server "${server}" refused to open a connection: ${refusal.message}`;
      throw new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: refusal });
    });
  }
}

/** `_meta` of every request to a modern server: it keeps nothing between two of them. */
export function modernMeta(capabilities: JsonObject): JsonObject {
  return {
    [META.protocolVersion]: LATEST_MODERN,
    [META.clientInfo]: CLIENT_INFO,
    [META.clientCapabilities]: capabilities,
  };
}

function readInitialize(server: string, result: unknown): Opened {
  if (!isObject(result) || typeof result.protocolVersion !== 'string') {
    throw new AppError(
      'PROVIDER_UNAVAILABLE',
      `Server "${server}" answered initialize without a protocolVersion.`,
    );
  }
  return { era: 'legacy', version: result.protocolVersion, ...described(result) };
}

function readDiscover(server: string, result: unknown): Opened {
  const offered = isObject(result) && Array.isArray(result.supportedVersions) ? result.supportedVersions : [];
  const version = MODERN_VERSIONS.find((known) => offered.includes(known));
  if (!isObject(result) || version === undefined) {
    throw new AppError(
      'PROVIDER_UNAVAILABLE',
      `Server "${server}" speaks the protocol versions ${JSON.stringify(offered)}, none of which is known here.`,
    );
  }
  return { era: 'modern', version, ...described(result) };
}

function described(raw: JsonObject): Omit<Opened, 'era' | 'version'> {
  const meta = isObject(raw._meta) ? raw._meta : {};
  const serverInfo = [raw.serverInfo, meta[META.serverInfo]].find(isObject);
  return {
    capabilities: isObject(raw.capabilities) ? raw.capabilities : {},
    ...(serverInfo ? { serverInfo } : {}),
    ...(typeof raw.instructions === 'string' ? { instructions: raw.instructions } : {}),
    raw,
  };
}
