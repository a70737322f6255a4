import type { Socket } from 'node:net';
import {
  CHANNELS,
  dataFrame,
  emptyFrame,
  FRAME,
  type FrameKind,
  FrameReader,
  MAX_WHOLE_BYTES,
} from '@mcpbridge/shared/channel-frames.js';
import { TurnWriter } from '@mcpbridge/shared/turn-writer.js';
import { BrokenOff, type Incoming, type Outgoing } from './attempt.js';
import { Exchanges } from './exchanges.js';
import { connectLocal, isUnread } from './local-socket.js';
import type { RequestBytes } from './request-bytes.js';

/** Calls at once beyond these go over connections of their own. */
const MAX_CHANNELS = 256;
const HEAD_END = Buffer.from('\r\n\r\n');
const REQUEST = `GET ${CHANNELS.path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${CHANNELS.protocol}\r\n\r\n`;
const CLOSED = 'the connection was closed';

/** The channels on one connection to the orchestrator's Unix socket. */
export class Channels {
  private readonly open = new Map<number, Channel>();
  private readonly idle: Channel[] = [];
  private readonly writer: TurnWriter;
  private readonly frames = new FrameReader((kind, id, bytes) => this.hear(kind, id, bytes));
  private nextId = 0;
  /** Whose bytes went out last: an end that closes with bytes unread has not read those. */
  private latest: Channel | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly onClosed: () => void,
  ) {
    this.writer = new TurnWriter(socket);
    let failure: Error | undefined;
    socket.on('error', (error) => (failure = error));
    socket.on('close', () => this.closed(failure));
  }

  /** Can this request go over a channel? Large ones would keep the others waiting. */
  static takes({ method }: Outgoing, bytes: RequestBytes): boolean {
    return method === 'POST' && bytes[1] === undefined && bytes[0].length <= MAX_WHOLE_BYTES;
  }

  /** One that is free; undefined when there are too many, or no connection any more. */
  free(): Channel | undefined {
    for (let channel = this.idle.pop(); channel; channel = this.idle.pop()) {
      if (channel.isOpen) return channel;
    }
    if (this.open.size >= MAX_CHANNELS || !this.socket.writable || !this.socket.readable) return undefined;
    const id = this.nextId++;
    const channel = new Channel({
      write: (bytes, done) => {
        this.latest = channel;
        this.writer.write([dataFrame(id, bytes)], done);
      },
      leave: () => {
        this.open.delete(id);
        if (this.socket.writable) this.writer.write([emptyFrame(FRAME.close, id)]);
      },
      free: () => this.idle.push(channel),
    });
    this.open.set(id, channel);
    return channel;
  }

  receive(bytes: Buffer): void {
    try {
      this.frames.push(bytes);
    } catch (error) {
      this.socket.destroy(error instanceof Error ? error : undefined);
    }
  }

  private hear(kind: FrameKind, id: number, bytes: Buffer): void {
    const channel = this.open.get(id);
    // One that was left a moment ago.
    if (!channel) return;
    if (kind === FRAME.data) channel.receive(bytes);
    else {
      this.open.delete(id);
      channel.closed(CLOSED, () => new BrokenOff(CLOSED, kind === FRAME.break));
    }
  }

  private closed(failure: Error | undefined): void {
    const message = failure?.message ?? CLOSED;
    const unread = failure && isUnread(failure) ? this.latest : undefined;
    for (const channel of this.open.values())
      channel.closed(message, (written) => new BrokenOff(message, written && channel !== unread));
    this.open.clear();
    this.onClosed();
  }
}

interface ChannelEnds {
  write(bytes: Buffer, done: (error?: Error | null) => void): void;
  leave(): void;
  free(): void;
}

/** One request after the other, beside others on the same connection. */
class Channel {
  isOpen = true;
  private readonly exchanges = new Exchanges(this, () => this.ends.free());

  constructor(private readonly ends: ChannelEnds) {}

  send(bytes: RequestBytes, outgoing: Outgoing): Promise<Incoming> {
    return this.exchanges.send(bytes, outgoing);
  }

  write([bytes]: RequestBytes, done: (error?: Error | null) => void): void {
    this.ends.write(bytes, done);
  }

  destroy(error?: Error): void {
    if (!this.isOpen) return;
    this.ends.leave();
    const message = error?.message ?? CLOSED;
    this.closed(message, () => new BrokenOff(message, true));
  }

  receive(bytes: Buffer): void {
    this.exchanges.receive(bytes);
  }

  closed(message: string, why: (written: boolean) => BrokenOff): void {
    this.isOpen = false;
    this.exchanges.closed(message, why);
  }
}

/** Asks the orchestrator for channels; undefined when it has none to offer. */
export function openChannels(
  path: string,
  connectMs: number,
  onClosed: () => void,
): Promise<Channels | undefined> {
  return new Promise((resolve) => {
    let answer = Buffer.alloc(0);
    let channels: Channels | undefined;
    const socket = connectLocal(path, connectMs, (bytes) => {
      if (channels) return channels.receive(bytes);
      answer = Buffer.concat([answer, bytes]);
      const end = answer.indexOf(HEAD_END);
      if (end === -1) return;
      if (!/^HTTP\/1\.1 101 /.test(answer.toString('latin1', 0, end))) {
        socket.destroy();
        return;
      }
      channels = new Channels(socket, onClosed);
      resolve(channels);
      const rest = answer.subarray(end + HEAD_END.length);
      if (rest.length > 0) channels.receive(rest);
    });
    socket.on('error', () => {
      // "close" follows.
    });
    socket.on('close', () => resolve(undefined));
    socket.write(REQUEST);
  });
}
