import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { Stop } from './stop.js';
import type { Way } from './ways.js';

/** Names and values in turn: what node:http sends without building a table first. */
export type RawHeaders = readonly string[];

export interface Outgoing {
  method: 'POST' | 'GET';
  /** Below the base, with its leading slash. */
  path: string;
  headers: RawHeaders;
  body?: Buffer | string;
  stop?: Stop;
  /** All of the request has left this process. */
  onWritten?: () => void;
}

/** No connection came to be, so nothing of the request was seen by anybody. */
export class NotReached extends Error {
  constructor(
    message: string,
    readonly code: string | undefined,
  ) {
    super(message);
  }

  /** Nobody listens; as opposed to a queue or a table that is full for a moment. */
  get isOutage(): boolean {
    return this.code !== 'EAGAIN' && this.code !== 'EMFILE';
  }

  /** A wrong host name does not become right by waiting. */
  get mayPass(): boolean {
    return this.code !== 'ENOTFOUND';
  }
}

/** The connection broke. `whole`: all of the request may have arrived, so what it asks for may have been done. */
export class BrokenOff extends Error {
  constructor(
    message: string,
    readonly whole: boolean,
  ) {
    super(message);
  }
}

interface SystemError extends Error {
  code?: string;
  syscall?: string;
  errors?: Error[];
}

/** Sends the request once; answers when the head of the answer is there. */
export function attempt(way: Way, outgoing: Outgoing, connectMs: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method, path, headers, body, stop } = outgoing;
    if (stop?.isFired) return reject(stop.reason);
    const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
    const raw = ['Host', way.host, ...headers, ...length];
    const request = way.request({ ...way.options, method, path, headers: raw });
    let written = false;
    stop?.onFire(() => request.destroy());
    request.on('socket', (socket) => boundConnect(socket, connectMs));
    request.on('finish', () => {
      written = true;
      outgoing.onWritten?.();
    });
    request.on('response', resolve);
    // Stays after the answer's head has come: the rest of the answer may break, too, and tells its own reader.
    request.on('error', (error) => reject(stop?.isFired ? stop.reason : classify(error, written)));
    request.end(body);
  });
}

/** The body of an answer; rejects with BrokenOff when it ends early. */
export function collect(stream: IncomingMessage): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () => resolve(parts));
    stream.on('error', (error) => reject(new BrokenOff(error.message, true)));
  });
}

/** A host that swallows packets would hold the connect for minutes. */
function boundConnect(socket: Socket, connectMs: number): void {
  if (!socket.connecting) return;
  const timer = setTimeout(() => {
    const late = Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT', syscall: 'connect' });
    socket.destroy(late);
  }, connectMs);
  socket.once('connect', () => clearTimeout(timer));
  socket.once('close', () => clearTimeout(timer));
}

function classify(error: SystemError, written: boolean): NotReached | BrokenOff {
  const { syscall, code, errors } = error;
  // Several addresses of one name, all tried in vain.
  if (errors) return new NotReached(errors.map(messageOf).join(', '), code);
  if (syscall === 'connect' || syscall === 'getaddrinfo') return new NotReached(error.message, code);
  // A failed write leaves the body shorter than its announced length, and such a request is never carried out.
  return new BrokenOff(error.message, written && syscall !== 'write');
}
