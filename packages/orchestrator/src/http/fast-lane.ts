import type { Socket } from 'node:net';
import type { HotRequest, HotResponse } from './exchange.js';
import type { LaneConnection, LaneEvent } from './lane-connection.js';
import { LaneResponse } from './lane-response.js';
import { type PlainHead, readPlainHead } from './plain-head.js';

const HEAD_END = '\r\n\r\n';
/** Requests sent before the last was answered wait in so much memory; then the sender waits. */
const MAX_AHEAD_BYTES = 1024 * 1024;

/** What serves a hot address. */
export type Serve = (request: HotRequest, response: HotResponse, body: Buffer) => void;

export interface LaneOptions {
  /** By which the requests are told from those of others. */
  socket: Socket;
  /** Undefined when the address is not a hot one. */
  serveAt(url: string): Serve | undefined;
  maxBodyBytes: number;
  /** Takes the connection for good, with what was read of it and not served. */
  handOver(rest: Buffer): void;
}

interface Known extends PlainHead {
  bytes: Buffer;
  serve: Serve;
}

/**
 * A connection that carries calls. node:http costs three times what a call's own work does, so requests of the
 * plainest form are read here: a small POST to a hot address whose head came in one piece. With the first request that
 * is anything else the whole connection goes to node:http, which reads it from that request's first byte.
 */
export class FastLane {
  private readonly parts: Buffer[] = [];
  private received = 0;
  private response: LaneResponse | undefined;
  /** The latest head: a client sends the same one again and again. */
  private known: Known | undefined;
  private serving = false;
  private closing = false;

  constructor(
    private readonly connection: LaneConnection,
    private readonly options: LaneOptions,
  ) {
    for (const [event, listener] of this.listeners) connection.on(event, listener);
  }

  /** Ends the connection, after the answer under way if there is one. What has come of a next request is node:http's. */
  endWhenIdle(): void {
    this.closing = true;
    if (!this.response) this.endOrHandOver();
  }

  private readonly onData = (bytes: Buffer) => {
    this.parts.push(bytes);
    this.received += bytes.length;
    if (!this.response) this.serveWaiting();
    else if (this.received > MAX_AHEAD_BYTES) this.connection.pause();
  };

  private readonly onDrain = () => {
    if (!this.response) this.serveWaiting();
  };

  /** As node:http: a client that closes its half is not answered any more. */
  private readonly onEnd = () => this.connection.end();

  private readonly onError = () => {
    // "close" follows, and tells who waits.
  };

  private readonly onClose = () => {
    this.response?.closed();
  };

  private readonly listeners: readonly (readonly [LaneEvent, (bytes: Buffer) => void])[] = [
    ['data', this.onData],
    ['drain', this.onDrain],
    ['end', this.onEnd],
    ['error', this.onError],
    ['close', this.onClose],
  ];

  /** One after the other, in a loop: answers that come at once must not nest. */
  private serveWaiting(): void {
    if (this.serving) return;
    this.serving = true;
    while (this.received > 0 && !this.response && !this.connection.writableNeedDrain && this.serveNext());
    this.serving = false;
    if (this.received <= MAX_AHEAD_BYTES && this.connection.isPaused()) this.connection.resume();
  }

  /** False when there is nothing more to do now. */
  private serveNext(): boolean {
    const first = this.parts[0] as Buffer;
    const head = this.known && startsWith(first, this.known.bytes) ? this.known : this.readHead(first);
    if (head === undefined) return this.handOver();
    this.known = head;
    const start = head.bytes.length;
    const end = start + head.length;
    if (this.received < end) return false;
    const all = this.parts.length === 1 ? first : Buffer.concat(this.parts, this.received);
    this.parts.length = 0;
    this.received = all.length - end;
    if (this.received > 0) this.parts.push(all.subarray(end));
    this.response = new LaneResponse(this.connection, this.onAnswered);
    head.serve(
      { headers: head.headers, socket: this.options.socket },
      this.response,
      all.subarray(start, end),
    );
    return true;
  }

  private readonly onAnswered = () => {
    this.response = undefined;
    if (this.closing) this.endOrHandOver();
    else if (this.received > 0) this.serveWaiting();
  };

  private endOrHandOver(): void {
    if (this.received > 0) this.handOver();
    else this.connection.end();
  }

  private readHead(bytes: Buffer): Known | undefined {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const head = readPlainHead(bytes.subarray(0, end));
    const serve = head && this.options.serveAt(head.url);
    if (!serve || head.length > this.options.maxBodyBytes) return undefined;
    return { ...head, serve, bytes: Buffer.from(bytes.subarray(0, end + HEAD_END.length)) };
  }

  private handOver(): false {
    const { connection, parts } = this;
    for (const [event, listener] of this.listeners) connection.off(event, listener);
    this.received = 0;
    this.options.handOver(Buffer.concat(parts.splice(0)));
    return false;
  }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0;
}
