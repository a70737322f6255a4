import type { Socket } from 'node:net';
import type { HotRequest, HotResponse } from './exchange.js';
import { LaneResponse } from './lane-response.js';
import { type PlainHead, readPlainHead } from './plain-head.js';

const HEAD_END = '\r\n\r\n';
/** Requests sent before the last was answered wait in so much memory; then the sender waits. */
const MAX_AHEAD_BYTES = 1024 * 1024;

/** What serves a hot address. */
export type Serve = (request: HotRequest, response: HotResponse, body: Buffer) => void;

export interface LaneOptions {
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
    private readonly socket: Socket,
    private readonly options: LaneOptions,
  ) {
    socket.on('data', this.onData).on('drain', this.onDrain).on('end', this.onEnd);
    socket.on('error', this.onError).on('close', this.onClose);
  }

  /** Ends the connection, after the answer under way if there is one. */
  endWhenIdle(): void {
    this.closing = true;
    if (!this.response) this.socket.end();
  }

  private readonly onData = (bytes: Buffer) => {
    this.parts.push(bytes);
    this.received += bytes.length;
    if (!this.response) this.serveWaiting();
    else if (this.received > MAX_AHEAD_BYTES) this.socket.pause();
  };

  private readonly onDrain = () => {
    if (!this.response) this.serveWaiting();
  };

  /** As node:http: a client that closes its half is not answered any more. */
  private readonly onEnd = () => this.socket.end();

  private readonly onError = () => {
    // "close" follows, and tells who waits.
  };

  private readonly onClose = () => {
    this.response?.closed();
  };

  /** One after the other, in a loop: answers that come at once must not nest. */
  private serveWaiting(): void {
    if (this.serving) return;
    this.serving = true;
    while (this.received > 0 && !this.response && !this.socket.writableNeedDrain && this.serveNext());
    this.serving = false;
    if (this.received <= MAX_AHEAD_BYTES && this.socket.isPaused()) this.socket.resume();
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
    this.response = new LaneResponse(this.socket, this.onAnswered);
    head.serve({ headers: head.headers, socket: this.socket }, this.response, all.subarray(start, end));
    return true;
  }

  private readonly onAnswered = () => {
    this.response = undefined;
    if (this.closing) this.socket.end();
    else if (this.received > 0) this.serveWaiting();
  };

  private readHead(bytes: Buffer): Known | undefined {
    const end = bytes.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const head = readPlainHead(bytes.subarray(0, end));
    const serve = head && this.options.serveAt(head.url);
    if (!serve || head.length > this.options.maxBodyBytes) return undefined;
    return { ...head, serve, bytes: Buffer.from(bytes.subarray(0, end + HEAD_END.length)) };
  }

  private handOver(): false {
    const { socket, parts } = this;
    socket.off('data', this.onData).off('drain', this.onDrain).off('end', this.onEnd);
    socket.off('error', this.onError).off('close', this.onClose);
    this.received = 0;
    this.options.handOver(Buffer.concat(parts.splice(0)));
    return false;
  }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0;
}
