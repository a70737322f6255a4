import type { Socket } from 'node:net';
import type { Stop } from './stop.js';

/** Names and values in turn: sent without building a table first. */
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

/** Hears the body of an answer as it comes; one of the last two ends it. */
export interface BodyListener {
  onPart(part: Buffer): void;
  onEnd(): void;
  /** It ended before it was whole. */
  onBreak(error: Error): void;
}

/** An answer whose head has come. */
export interface Incoming {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** To be called once: the body has one reader. */
  read(listener: BodyListener): void;
}

/** The body of an answer; rejects with BrokenOff when it ends early. */
export function collect(answer: Incoming): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    answer.read({
      onPart: (part) => parts.push(part),
      onEnd: () => resolve(parts),
      onBreak: (error) => reject(new BrokenOff(error.message, true)),
    });
  });
}

/** Lets a body go by that nobody wants, so that its connection serves the next request. */
export function discard(answer: Incoming): void {
  const ignore = () => {};
  answer.read({ onPart: ignore, onEnd: ignore, onBreak: ignore });
}

/** A host that swallows packets would hold the connect for minutes. */
export function boundConnect(socket: Socket, connectMs: number): void {
  if (!socket.connecting) return;
  const timer = setTimeout(() => {
    const late = Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT', syscall: 'connect' });
    socket.destroy(late);
  }, connectMs);
  socket.once('connect', () => clearTimeout(timer));
  socket.once('close', () => clearTimeout(timer));
}
