import type { RpcId, RpcMessage, RpcResponse } from '@mcpbridge/shared/json-rpc.js';
import type { Placed } from '@mcpbridge/shared/underway.js';
import type { HotResponse } from '../http/exchange.js';
import { sendText } from '../http/reply.js';
import { jsonOf } from './list-text.js';

const KEEP_ALIVE_MS = 15_000;
const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** Streams that would be silent for long get a comment now and then; one timer serves all. */
const open = new Set<EventStream>();
setInterval(() => {
  for (const stream of open) stream.comment();
}, KEEP_ALIVE_MS).unref();

/** Bytes that a client may leave unread; then its stream is cut, so that what floods it does not fill our memory. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Where messages go one by one. */
export interface MessageStream {
  send(message: RpcMessage): void;
  end(): void;
  /** Its client is to come back for the rest; absent where it cannot. */
  pause?(): void;
}

/** A response as server-sent events, one JSON-RPC message each. */
export class EventStream implements MessageStream {
  constructor(
    private readonly response: HotResponse,
    headers: Record<string, string> = {},
  ) {
    response.writeHead(200, { ...EVENT_STREAM, ...headers });
    response.flushHeaders();
    open.add(this);
    response.on('close', () => open.delete(this));
  }

  send(message: RpcMessage): void {
    this.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /** One event or comment, as it is. */
  write(text: string): void {
    if (!this.response.writable) return;
    if (this.response.writableLength > MAX_UNREAD_BYTES) this.response.destroy();
    else this.response.write(text);
  }

  comment(): void {
    this.write(': still here\n\n');
  }

  end(): void {
    this.response.end();
  }
}

interface AnswerOptions {
  /** False for a client that cannot read streams: it gets the result alone. */
  mayStream: boolean;
  headers?: Record<string, string>;
  /** Opens the stream; default: one that ends with its connection. */
  openStream?(): MessageStream;
}

/** The answer to one posted request: JSON when the result is all there is, a stream from the first message before it. */
export class Answer implements Placed {
  readonly startedAt = performance.now();
  place = 0;
  private stream: MessageStream | undefined;

  constructor(
    private readonly response: HotResponse,
    private readonly options: AnswerOptions,
  ) {}

  /** Anything that comes before the result. */
  send(message: RpcMessage): void {
    this.open()?.send(message);
  }

  /** The result is to come over a stream. */
  open(): MessageStream | undefined {
    const { mayStream, headers, openStream } = this.options;
    if (mayStream) this.stream ??= openStream?.() ?? new EventStream(this.response, headers);
    return this.stream;
  }

  /** The server lets its client poll, and so does this answer where its client can come back. */
  pause(): void {
    this.open()?.pause?.();
  }

  result(id: RpcId, result: unknown): void {
    this.finish({ jsonrpc: '2.0', id, result }, 200);
  }

  error(id: RpcId | null, error: NonNullable<RpcResponse['error']>, status = 200): void {
    this.finish({ jsonrpc: '2.0', id, error }, status);
  }

  /** Nothing to say: a notification was taken, or the request was cancelled. */
  empty(status = 202): void {
    if (this.stream) this.stream.end();
    else this.response.writeHead(status, { ...this.options.headers, 'content-length': 0 }).end();
  }

  private finish(message: RpcResponse, status: number): void {
    if (this.stream) {
      this.stream.send(message);
      this.stream.end();
      return;
    }
    sendText(this.response, status, jsonOf(message), this.options.headers);
  }
}
