import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import {
  type Era,
  LATEST_LEGACY,
  LATEST_MODERN,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSIONS,
} from '@mcpbridge/shared/protocol.js';
import { VERSION } from '../../version.js';
import type { Opened } from '../provider.js';
import { orAborted } from './abort.js';
import type { Peer } from './peer.js';
import type { Transport } from './transport.js';

const CLIENT_INFO = { name: 'mcpbridge-orchestrator', title: 'mcpbridge orchestrator', version: VERSION };

/** A legacy server may leave `server/discover` without an answer; it knows `initialize`. */
const DISCOVER_MS = 3000;

/** In which eras a server may be spoken to, and what became of it. */
export interface Eras {
  /** The one of the caller's client first, so that least is lost; none that the server refused before. */
  order: readonly Era[];
  refused(era: Era): void;
}

/** As what we introduce ourselves. */
export interface Self {
  capabilities: JsonObject;
  /** The `initialize` of the only client that the connection is for: it speaks for itself. */
  hello?: JsonObject | undefined;
}

/** Opens the connection in the first era that the server takes, in one and the same process. */
export async function shakeHands(
  server: string,
  peer: Peer,
  transport: Transport,
  self: Self,
  signal: CancelSignal,
  eras: Eras,
): Promise<Opened> {
  let refusal: unknown;
  for (const [index, era] of eras.order.entries()) {
    try {
      if (era === 'legacy') return await initialize(server, peer, transport, self, signal);
      return await discover(server, peer, self, signal, index < eras.order.length - 1);
    } catch (error) {
      if (signal.aborted || (era === 'legacy' && !(error instanceof RpcFailure))) throw error;
      eras.refused(era);
      refusal ??= error;
      if (peer.isClosed) throw error;
    }
  }
  const sentence = `Server "${server}" refused to open a connection: ${messageOf(refusal)}`;
  throw new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: refusal });
}

async function initialize(
  server: string,
  peer: Peer,
  transport: Transport,
  { capabilities, hello }: Self,
  signal: CancelSignal,
): Promise<Opened> {
  const { protocolVersion: wanted, clientInfo = CLIENT_INFO, ...more } = hello ?? {};
  const protocolVersion = LEGACY_VERSIONS.find((known) => known === wanted) ?? LATEST_LEGACY;
  const params = { ...more, protocolVersion, capabilities, clientInfo };
  const opened = readInitialize(server, await peer.request('initialize', params, { signal }));
  transport.agreed(opened.version);
  peer.notify('notifications/initialized');
  return opened;
}

async function discover(
  server: string,
  peer: Peer,
  { capabilities, hello }: Self,
  signal: CancelSignal,
  mayTurnBack: boolean,
): Promise<Opened> {
  const answer = peer.request(
    'server/discover',
    { _meta: modernMeta(capabilities, hello?.clientInfo) },
    { signal },
  );
  if (!mayTurnBack) return readDiscover(server, await answer);
  const patience = new Cancel();
  const late = new AppError('PROVIDER_UNAVAILABLE', `Server "${server}" did not answer server/discover.`);
  const timer = setTimeout(() => patience.abort(late), DISCOVER_MS);
  try {
    return readDiscover(server, await orAborted(answer, patience.signal));
  } finally {
    clearTimeout(timer);
  }
}

/** `_meta` of every request to a modern server: it keeps nothing between two of them. */
export function modernMeta(capabilities: JsonObject, clientInfo: unknown = CLIENT_INFO): JsonObject {
  return {
    [META.protocolVersion]: LATEST_MODERN,
    [META.clientInfo]: clientInfo,
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
