import type { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject, RpcId, RpcMessage } from '@mcpbridge/shared/json-rpc.js';
import type { ServerEntry } from '../../config/server-entry.js';
import type { Log } from '../../log.js';
import type { LineRing } from './line-ring.js';
import { openStdio } from './stdio.js';

/** What a transport tells the one that uses it. */
export interface TransportEvents {
  message(message: JsonObject): void;
  /** A request that will get no answer, though the connection lives; without an id: one that could not be named. */
  failed(id: RpcId | undefined, error: AppError): void;
  /** New requests need another connection; those in flight may still be answered. */
  spent(): void;
  /** Nothing more will come. Said once, and after `close()` too. */
  closed(reason: AppError): void;
}

/** Carries JSON-RPC messages to and from one upstream; knows nothing of their meaning. */
export interface Transport {
  /** Called once, before the first `send`. */
  listen(events: TransportEvents): void;
  /** Never throws; what cannot be sent is told through `failed` or `closed`. */
  send(message: RpcMessage, headers?: Record<string, string>): void;
  /** The legacy version that the handshake agreed on. */
  agreed(version: string): void;
  /** Resolves when nothing of the connection is left, its processes included. */
  close(): Promise<void>;
}

export interface TransportContext {
  env: NodeJS.ProcessEnv;
  maxMessageBytes: number;
  /** Takes the lines that the server writes for people; the last few are its last words. */
  words: LineRing;
  log: Log;
}

/** Rejects with an AppError that says why there is no connection; aborting `signal` ends a connect under way. */
export async function openTransport(
  { id, transport }: ServerEntry,
  context: TransportContext,
  signal: AbortSignal,
): Promise<Transport> {
  if (transport.kind === 'stdio') return openStdio(id, transport, context);
  // The MCP SDK takes a quarter of a second to load; who has no remote server never pays for it.
  const { openHttp } = await import('./http.js');
  return openHttp(id, transport, context, signal);
}
