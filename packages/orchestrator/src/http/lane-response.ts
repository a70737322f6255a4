import { STATUS_CODES } from 'node:http';
import type { HotResponse } from './exchange.js';
import type { LaneConnection } from './lane-connection.js';

/** The answer to one request on the fast lane: with its length in one write, else in chunks. */
export class LaneResponse implements HotResponse {
  headersSent = false;
  writableFinished = false;
  private head = '';
  private chunked = false;
  private readonly closeListeners: (() => void)[] = [];

  constructor(
    private readonly connection: LaneConnection,
    /** Told once when the answer is complete. */
    private readonly onEnd: () => void,
  ) {}

  get destroyed(): boolean {
    return this.connection.destroyed;
  }

  get writable(): boolean {
    return !this.writableFinished && this.connection.writable;
  }

  get writableLength(): number {
    return this.connection.writableLength;
  }

  writeHead(status: number, headers: Record<string, string | number>): this {
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (const name in headers) head += `${name}: ${oneLine(headers[name])}\r\n`;
    this.chunked = status !== 204 && !('content-length' in headers);
    this.head = `${head}${this.chunked ? 'transfer-encoding: chunked\r\n' : ''}${dateLine()}\r\n`;
    return this;
  }

  flushHeaders(): void {
    this.send('');
  }

  write(text: string): void {
    if (text !== '') this.send(this.chunked ? chunk(text) : text);
  }

  end(text = ''): void {
    if (this.writableFinished) return;
    this.send(this.chunked ? `${text === '' ? '' : chunk(text)}0\r\n\r\n` : text);
    this.writableFinished = true;
    this.closed();
    this.onEnd();
  }

  destroy(): void {
    this.connection.destroy();
  }

  on(_event: 'close', listener: () => void): void {
    this.closeListeners.push(listener);
  }

  /** The answer is complete, or its connection is gone. */
  closed(): void {
    for (const listener of this.closeListeners.splice(0)) listener();
  }

  private send(text: string): void {
    const whole = this.headersSent ? text : this.head + text;
    this.headersSent = true;
    if (whole !== '' && this.connection.writable) this.connection.write(whole);
  }
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

/** A value with a line break would be a second header. */
function oneLine(value: string | number | undefined): string | number | undefined {
  if (typeof value === 'string' && /[\r\n\0]/.test(value))
    throw new Error(`A header value has a line break: ${JSON.stringify(value)}.`);
  return value;
}

let dated = { at: 0, line: '' };

/** RFC 9110, 6.6.1. Written once a second. */
function dateLine(): string {
  const now = Date.now();
  if (now - dated.at >= 1000) {
    const at = now - (now % 1000);
    dated = { at, line: `date: ${new Date(at).toUTCString()}\r\n` };
  }
  return dated.line;
}
