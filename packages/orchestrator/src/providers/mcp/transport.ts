import type { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject, RpcId, RpcMessage } from '@mcpbridge/shared/json-rpc.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import type { Log } from '../../log.js';
import type { Bounds } from './bounds/bounds.js';
import type { Credentials } from './credentials.js';
import type { LineRing } from './line-ring.js';

/** What a transport tells the one that uses it. */
export interface TransportEvents {
  /**
   * `bytes`: its length, where that is known; `weight`: about how long it was, where only that is known; `during`: the
   * request on whose stream it came, where each has its own.
   */
  message(message: JsonObject, bytes?: number, weight?: number, during?: RpcId): void;
  /** Something that was no message. */
  noise(bytes: number): void;
  /** The server sends more of its own accord than is taken: it is to be read slowly. */
  readonly isFlooding: boolean;
  /** A request that will get no answer, though the connection lives; without an id: one that could not be named. */
  failed(id: RpcId | undefined, error: AppError): void;
  /** The server ended the stream of this request, and will be asked for the rest in a while. */
  paused(id: RpcId): void;
  /** Nothing of use can come any more; the connection is to be closed. */
  broken(reason: AppError): void;
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
  /** The orchestrator's own folder. */
  home: string;
  maxMessageBytes: number;
  /** Takes the lines that the server writes for people; the last few are its last words. */
  words: LineRing;
  bounds: Bounds;
  /** Blanks secrets in what becomes part of an error. */
  hide?: Hide;
  log: Log;
  /** What is shown to a server that is reached over HTTP. */
  credentials?: Credentials | undefined;
}
