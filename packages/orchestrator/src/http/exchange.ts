import type { Socket } from 'node:net';
import type { Principal } from '../auth/principal.js';

/** What the hot road asks of a request; node:http's is one. */
export interface HotRequest {
  readonly headers: Record<string, string | string[] | undefined>;
  readonly socket: Socket;
}

/** What the hot road asks of a response; node:http's is one. */
export interface HotResponse {
  readonly headersSent: boolean;
  /** True when the whole answer was given to the system. */
  readonly writableFinished: boolean;
  readonly writable: boolean;
  readonly destroyed: boolean;
  /** Bytes that the other end has not taken yet. */
  readonly writableLength: number;
  writeHead(status: number, headers: Record<string, string | number>): this;
  flushHeaders(): void;
  write(text: string): unknown;
  end(text?: string): unknown;
  destroy(): unknown;
  /** After the answer, or when its connection is gone before. */
  on(event: 'close', listener: () => void): unknown;
}

/** One request on the hot road, and its answer. */
export interface Exchange {
  request: HotRequest;
  response: HotResponse;
  /** Of the address. */
  params: Record<string, string | undefined>;
  principal: Principal;
  /** The whole body, within the limit; rejects with BODY_TOO_LARGE. */
  body(): Buffer | Promise<Buffer>;
}

/** A header that was sent once and is not empty. */
export function header({ headers }: HotRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
