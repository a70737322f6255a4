import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  CHANNELS,
  dataFrame,
  emptyFrame,
  FRAME,
  type FrameKind,
  FrameReader,
} from '@mcpbridge/shared/channel-frames.js';
import { eventually } from './processes.js';

export const ASKS_FOR_CHANNELS = `GET ${CHANNELS.path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: ${CHANNELS.protocol}\r\n\r\n`;
export const AGREES = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${CHANNELS.protocol}\r\n\r\n`;

/** One end of a connection with channels: what came on each as text, and how it ended. */
export class ChannelPeer {
  readonly texts = new Map<number, string>();
  readonly ends = new Map<number, 'close' | 'break'>();
  /** In the order in which they came. */
  readonly order: number[] = [];
  isOver = false;
  private readonly frames = new FrameReader((kind, id, bytes) => this.take(kind, id, bytes));

  constructor(
    readonly socket: Socket,
    private readonly onData?: (id: number, text: string) => void,
  ) {
    socket.on('data', (bytes: Buffer) => this.frames.push(bytes));
    socket.on('error', () => {
      // The tests that expect it see its end.
    });
    socket.on('close', () => (this.isOver = true));
  }

  /** At an orchestrator's socket file, or at a port: undefined when there are no channels to be had. */
  static async open(address: { path: string } | { port: number }): Promise<ChannelPeer | undefined> {
    const socket = connect(address);
    socket.on('error', () => {
      // "close" follows.
    });
    socket.write(ASKS_FOR_CHANNELS);
    const [head] = (await once(socket, 'data')) as [Buffer];
    if (head.toString() === AGREES) return new ChannelPeer(socket);
    socket.destroy();
    return undefined;
  }

  /** Resolves when the bytes are with the system. */
  send(id: number, text: string): Promise<void> {
    return this.sendBytes(dataFrame(id, text));
  }

  close(id: number): Promise<void> {
    return this.sendBytes(emptyFrame(FRAME.close, id));
  }

  break(id: number): Promise<void> {
    return this.sendBytes(emptyFrame(FRAME.break, id));
  }

  sendBytes(bytes: Buffer): Promise<void> {
    return new Promise((sent) => this.socket.write(bytes, () => sent()));
  }

  /** The next answer of HTTP on a channel, whose length its head has to tell. */
  async answer(id: number): Promise<{ status: number; body: string }> {
    const whole = await eventually(`channel ${id} has an answer`, () =>
      wholeAnswer(this.texts.get(id) ?? ''),
    );
    this.texts.set(id, (this.texts.get(id) ?? '').slice(whole.length));
    const [head = '', body = ''] = whole.split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), body };
  }

  async ended(id: number): Promise<'close' | 'break'> {
    return eventually(`channel ${id} ends`, () => this.ends.get(id));
  }

  private take(kind: FrameKind, id: number, bytes: Buffer): void {
    this.order.push(id);
    if (kind !== FRAME.data) this.ends.set(id, kind === FRAME.close ? 'close' : 'break');
    else if (this.onData) this.onData(id, bytes.toString());
    else this.texts.set(id, (this.texts.get(id) ?? '') + bytes.toString());
  }
}

/** Of plain texts: characters are bytes. */
function wholeAnswer(text: string): string | undefined {
  const start = text.indexOf('\r\n\r\n') + 4;
  const length = /content-length: (\d+)/i.exec(text.slice(0, Math.max(start, 0)))?.[1];
  if (start < 4 || length === undefined || text.length < start + Number(length)) return undefined;
  return text.slice(0, start + Number(length));
}
