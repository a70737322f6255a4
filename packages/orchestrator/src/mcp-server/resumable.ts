import { RPC, type RpcMessage } from '@mcpbridge/shared/json-rpc.js';
import type { HotResponse } from '../http/exchange.js';
import { EventStream, type MessageStream } from './answer.js';

/** What a client may ask for again, of each stream; of more the oldest is forgotten. */
const KEPT_EVENTS = 1000;
const KEPT_BYTES = 1024 * 1024;
/** The client's pause before it comes back, in milliseconds. */
const RETRY_MS = 1000;
/** A stream that its client does not come back for within this time is given up. */
const ABANDONED_AFTER_MS = 4000;
/** One that was ended for its client to poll is kept for longer: it may be in no hurry. */
const POLLED_WITHIN_MS = 60_000;

interface KeptEvent {
  seq: number;
  text: string;
}

interface StreamOptions {
  headers: Record<string, string>;
  /** The client knows events that carry an id and nothing else (revision 2025-11-25 and later). */
  primed: boolean;
  /** The connection broke before the end, and the client did not come back. */
  onAbandoned?(): void;
}

/**
 * One stream to a legacy client that outlives its connection: its events are numbered, and a client that names the last
 * one it saw (`Last-Event-ID`) gets those after it (specification 2025-11-25, transports, "Resumability").
 */
export class ResumableStream implements MessageStream {
  /** When its last event was sent, for who throws old streams away; on the clock of Date.now(). */
  endedAt: number | undefined;
  private readonly kept: KeptEvent[] = [];
  private keptBytes = 0;
  private lastSeq = 0;
  /** The last event that was written to a connection. */
  private writtenSeq = 0;
  private connection: EventStream | undefined;
  private abandoning: NodeJS.Timeout | undefined;
  private isPolled = false;

  constructor(
    readonly id: string,
    private readonly options: StreamOptions,
  ) {}

  get isConnected(): boolean {
    return this.connection !== undefined;
  }

  /** Goes on over this response after event `seq`; without it, after the last one that was written. */
  connect(response: HotResponse, seq = this.writtenSeq): void {
    clearTimeout(this.abandoning);
    this.connection?.end();
    const connection = new EventStream(response, this.options.headers);
    this.connection = connection;
    response.on('close', () => this.disconnected(connection));
    if (this.options.primed) connection.write(`id: ${this.idOf(seq)}\nretry: ${RETRY_MS}\ndata: \n\n`);
    for (const event of this.kept) if (event.seq > seq && event.text) connection.write(event.text);
    this.writtenSeq = this.lastSeq;
    if (this.endedAt !== undefined) connection.end();
  }

  send(message: RpcMessage): void {
    const seq = ++this.lastSeq;
    const text = this.eventOf(seq, message);
    this.keep(seq, text.length > KEPT_BYTES ? this.eventOf(seq, instead(message)) : text);
    if (!this.connection) return;
    this.connection.write(text);
    this.writtenSeq = seq;
  }

  /** Ends the connection alone: the client comes back for the rest after the pause that it was told. */
  pause(): void {
    if (!this.options.primed || this.endedAt !== undefined) return;
    this.isPolled = true;
    this.connection?.end();
  }

  end(): void {
    this.endedAt ??= Date.now();
    clearTimeout(this.abandoning);
    this.connection?.end();
  }

  private eventOf(seq: number, message: RpcMessage | undefined): string {
    return message ? `event: message\nid: ${this.idOf(seq)}\ndata: ${JSON.stringify(message)}\n\n` : '';
  }

  private idOf(seq: number): string {
    return `${this.id}.${seq}`;
  }

  private keep(seq: number, text: string): void {
    this.kept.push({ seq, text });
    this.keptBytes += text.length;
    while (this.kept.length > KEPT_EVENTS || this.keptBytes > KEPT_BYTES) {
      this.keptBytes -= this.kept.shift()?.text.length ?? 0;
    }
  }

  private disconnected(connection: EventStream): void {
    if (this.connection !== connection) return;
    this.connection = undefined;
    const { onAbandoned } = this.options;
    if (this.endedAt === undefined && onAbandoned) {
      this.abandoning = setTimeout(
        onAbandoned,
        this.isPolled ? POLLED_WITHIN_MS : ABANDONED_AFTER_MS,
      ).unref();
    }
  }
}

/** What a client that comes back hears instead of a message too large to be kept: nothing must be waited for in vain. */
function instead(message: RpcMessage): RpcMessage | undefined {
  if (!('id' in message) || 'method' in message) return undefined;
  const text = `The answer was lost with its connection: at most ${KEPT_BYTES} bytes are kept for a client that comes back.`;
  return { jsonrpc: '2.0', id: message.id, error: { code: RPC.internalError, message: text } };
}

/** Stream and number of an event id of ours. */
export function readEventId(id: string): { stream: string; seq: number } | undefined {
  const [, stream, seq] = /^(\w{1,20})\.(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined ? undefined : { stream, seq: Number(seq) };
}
