import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject, RPC, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import {
  type Era,
  LATEST_LEGACY,
  LATEST_MODERN,
  LEGACY_VERSIONS,
  META,
  MODERN_VERSIONS,
} from '@mcpbridge/shared/protocol.js';
import { VERSION } from '../../../version.js';
import type { Opened } from '../../provider.js';
import type { Peer } from '../peer/peer.js';
import type { Transport } from '../transport.js';

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
      const greet = (isWanted?: () => boolean) => initialize(server, peer, transport, self, signal, isWanted);
      if (era === 'legacy') return await greet();
      const opened = await discover(
        server,
        peer,
        self,
        signal,
        index < eras.order.length - 1 ? greet : undefined,
      );
      if (opened.era === 'legacy') eras.refused('modern');
      return opened;
    } catch (error) {
      if (signal.aborted || (era === 'legacy' && !(error instanceof RpcFailure))) throw error;
      if (saysNothingOfEras(error)) throw error;
      eras.refused(era);
      refusal ??= error;
      if (peer.isClosed) throw error;
    }
  }
  const sentence = `Server "${server}" refused to open a connection: ${messageOf(refusal)}`;
  throw new AppError('PROVIDER_UNAVAILABLE', sentence, { cause: refusal });
}

/** Who is wanted, or that something is broken, is no evidence of an era (2026-07-28, versioning). */
function saysNothingOfEras(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  const status = isObject(error.details) ? Number(error.details.status) : 0;
  return error.code.startsWith('SIGN_IN_') || status === 401 || status === 403;
}

async function initialize(
  server: string,
  peer: Peer,
  transport: Transport,
  { capabilities, hello }: Self,
  signal: CancelSignal,
  isWanted = () => true,
): Promise<Opened> {
  const { protocolVersion: wanted, clientInfo = CLIENT_INFO, ...more } = hello ?? {};
  const protocolVersion = LEGACY_VERSIONS.find((known) => known === wanted) ?? LATEST_LEGACY;
  const params = { ...more, protocolVersion, capabilities, clientInfo };
  const opened = readInitialize(server, await peer.request('initialize', params, { signal }));
  if (isWanted()) {
    transport.agreed(opened.version);
    peer.notify('notifications/initialized');
  }
  return opened;
}

async function discover(
  server: string,
  peer: Peer,
  { capabilities, hello }: Self,
  signal: CancelSignal,
  greet: ((isWanted: () => boolean) => Promise<Opened>) | undefined,
): Promise<Opened> {
  const ask = () =>
    peer.request('server/discover', { _meta: modernMeta(capabilities, hello?.clientInfo) }, { signal });
  const modern = ask()
    .catch((error) => {
      if (!offersOurs(error)) throw error;
      return ask();
    })
    .then((result) => readDiscover(server, result));
  if (!greet) return modern;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, DISCOVER_MS, undefined);
  });
  const opened = await Promise.race([modern, late]).finally(() => clearTimeout(timer));
  if (opened) return opened;
  return firstOf(modern, greet);
}

/** A server that is only slow answers in the order of the questions; one of the legacy era may never answer the first. */
async function firstOf(
  modern: Promise<Opened>,
  greet: (isWanted: () => boolean) => Promise<Opened>,
): Promise<Opened> {
  let isModern = false;
  modern.then(
    () => {
      isModern = true;
    },
    () => undefined, // what initialize is answered counts then
  );
  const legacy = greet(() => !isModern);
  return Promise.any([modern, legacy]).catch(() => legacy);
}

/** A refusal that names a version which we speak; the specification wants a second try then (2026-07-28, versioning). */
function offersOurs(error: unknown): boolean {
  if (!(error instanceof RpcFailure) || error.code !== RPC.unsupportedVersion || !isObject(error.data))
    return false;
  const { supported } = error.data;
  return Array.isArray(supported) && MODERN_VERSIONS.some((version) => supported.includes(version));
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
