import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  CHANNELS,
  dataFrame,
  emptyFrame,
  FRAME,
  type FrameKind,
  FrameReader,
} from '@mcpbridge/shared/channel-frames.js';
import { TurnWriter } from '@mcpbridge/shared/turn-writer.js';
import type { LaneConnection } from './lane-connection.js';

/** A bridge has as many as it had calls at once. */
const MAX_CHANNELS = 1024;
const AGREED = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${CHANNELS.protocol}\r\n\r\n`;

export function asksForChannels({ url, headers }: IncomingMessage): boolean {
  return url === CHANNELS.path && headers.upgrade?.toLowerCase() === CHANNELS.protocol;
}

/** A connection whose channels are served each as a connection of its own would be, on the fast lane alone. */
export class ChannelConnection {
  private readonly open = new Map<number, Channel>();
  private readonly writer: TurnWriter;
  private readonly frames = new FrameReader((kind, id, bytes) => this.hear(kind, id, bytes));
  private nextId = 0;
  private ending = false;

  /** `onOpen` takes each new channel. */
  constructor(
    private readonly socket: Socket,
    private readonly onOpen: (channel: Channel) => void,
  ) {
    this.writer = new TurnWriter(socket);
    socket.write(AGREED);
    socket.on('data', (bytes: Buffer) => this.receive(bytes));
    socket.on('drain', () => this.tell('drain'));
    // As node:http: a client that closes its half is not answered any more.
    socket.on('end', () => socket.end());
    socket.on('error', () => {
      // "close" follows.
    });
    socket.on('close', () => this.tell('close'));
  }

  receive(bytes: Buffer): void {
    try {
      this.frames.push(bytes);
    } catch {
      this.socket.destroy();
    }
  }

  /** Takes no more channels, and closes the connection with the last. */
  endWhenIdle(): void {
    this.ending = true;
    this.endIfIdle();
  }

  private hear(kind: FrameKind, id: number, bytes: Buffer): void {
    if (kind !== FRAME.data) this.left(id);
    else (this.open.get(id) ?? this.begin(id))?.emit('data', bytes);
  }

  /** A channel that was closed stays closed. */
  private begin(id: number): Channel | undefined {
    if (id < this.nextId) return undefined;
    this.nextId = id + 1;
    if (this.ending) {
      this.close(id, FRAME.close);
      return undefined;
    }
    if (this.open.size === MAX_CHANNELS) throw new Error('there are too many channels');
    const channel = new Channel(this.socket, {
      write: (text) => this.writer.write([dataFrame(id, text)]),
      close: (kind) => this.close(id, kind),
      fail: () => this.socket.destroy(),
    });
    this.open.set(id, channel);
    this.onOpen(channel);
    return channel;
  }

  private left(id: number): void {
    const channel = this.open.get(id);
    this.open.delete(id);
    channel?.gone();
    this.endIfIdle();
  }

  private close(id: number, kind: FrameKind): void {
    if (this.socket.writable) this.writer.write([emptyFrame(kind, id)]);
    this.left(id);
  }

  private endIfIdle(): void {
    if (!this.ending || this.open.size > 0) return;
    this.writer.flush();
    this.socket.end();
  }

  private tell(event: 'drain' | 'close'): void {
    for (const channel of this.open.values()) {
      if (event === 'drain') channel.emit('drain');
      else channel.gone();
    }
  }
}

interface ChannelEnds {
  write(text: string): void;
  close(kind: FrameKind): void;
  fail(): void;
}

/** What the lane sees of a channel: a connection. */
class Channel extends EventEmitter implements LaneConnection {
  destroyed = false;

  constructor(
    readonly socket: Socket,
    private readonly ends: ChannelEnds,
  ) {
    super();
  }

  get writable(): boolean {
    return !this.destroyed && this.socket.writable;
  }

  get writableLength(): number {
    return this.socket.writableLength;
  }

  get writableNeedDrain(): boolean {
    return this.socket.writableNeedDrain;
  }

  write(text: string): void {
    if (this.writable) this.ends.write(text);
  }

  end(): void {
    if (!this.destroyed) this.ends.close(FRAME.close);
  }

  destroy(): void {
    if (!this.destroyed) this.ends.close(FRAME.break);
  }

  /** Whoever sends so much ahead of its answers is no bridge. */
  pause(): void {
    this.ends.fail();
  }

  isPaused(): boolean {
    return false;
  }

  resume(): void {}

  gone(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}
