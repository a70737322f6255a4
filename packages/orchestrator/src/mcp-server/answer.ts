import type { RpcId, RpcMessage, RpcResponse } from '@mcpbridge/shared/json-rpc.js';
import type { HotResponse } from '../http/exchange.js';
import { sendJson } from '../http/reply.js';

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

/** A response as server-sent events, one JSON-RPC message each. */
export class EventStream {
  constructor(
    readonly response: HotResponse,
    headers: Record<string, string> = {},
  ) {
    response.writeHead(200, { ...EVENT_STREAM, ...headers });
    response.flushHeaders();
    open.add(this);
    response.on('close', () => open.delete(this));
  }

  send(message: RpcMessage): void {
    if (this.response.writable) this.response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  comment(): void {
    if (this.response.writable) this.response.write(': still here\n\n');
  }

  end(): void {
    this.response.end();
  }
}

/** The answer to one posted request: JSON when the result is all there is, a stream from the first message before it. */
export class Answer {
  private stream: EventStream | undefined;

  constructor(
    private readonly response: HotResponse,
    /** False for a client that cannot read streams: it gets the result alone. */
    private readonly mayStream: boolean,
    private readonly headers?: Record<string, string>,
  ) {}

  /** Anything that comes before the result. */
  send(message: RpcMessage): void {
    if (!this.mayStream) return;
    this.stream ??= new EventStream(this.response, this.headers);
    this.stream.send(message);
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
    else this.response.writeHead(status, { ...this.headers, 'content-length': 0 }).end();
  }

  private finish(message: RpcResponse, status: number): void {
    if (this.stream) {
      this.stream.send(message);
      this.stream.end();
      return;
    }
    sendJson(this.response, status, message, this.headers);
  }
}
