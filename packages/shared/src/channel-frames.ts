/**
 * Channels: what a bridge and the orchestrator of the same machine speak on one connection while many calls are under
 * way. Each channel carries requests and answers of HTTP/1.1 one after the other, as a connection of its own would;
 * what is written on several of them in one turn of the event loop leaves in one system call, and is read in one.
 * A frame is its kind (1 byte), its channel and the length of what follows (4 bytes each, little endian).
 */
export const CHANNELS = {
  path: '/api/channels',
  /** In `Upgrade` (RFC 9110, 7.8). */
  protocol: 'mcpbridge-channels',
} as const;

export const FRAME = {
  /** Bytes of requests, or of answers. */
  data: 0,
  /** From the bridge: nobody waits any more. From the orchestrator: what came since the last answer was not begun, nor will be. */
  close: 1,
  /** From the orchestrator: the answer under way comes to no end. */
  break: 2,
} as const;

export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

const HEAD_BYTES = 9;
/** What is no longer comes in one piece. */
export const MAX_WHOLE_BYTES = 64 * 1024;
const EMPTY: Buffer = Buffer.alloc(0);

/** Text as UTF-8. */
export function dataFrame(channel: number, content: string | Buffer): Buffer {
  const isText = typeof content === 'string';
  const length = isText ? Buffer.byteLength(content) : content.length;
  const frame = head(FRAME.data, channel, length);
  if (isText) frame.write(content, HEAD_BYTES);
  else content.copy(frame, HEAD_BYTES);
  return frame;
}

export function emptyFrame(kind: FrameKind, channel: number): Buffer {
  return head(kind, channel, 0);
}

function head(kind: FrameKind, channel: number, length: number): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + length);
  frame[0] = kind;
  frame.writeUInt32LE(channel, 1);
  frame.writeUInt32LE(length, 5);
  return frame;
}

type Take = (kind: FrameKind, channel: number, bytes: Buffer) => void;

/** Reads frames out of the bytes of a connection. `push` throws at what is none; the connection is of no use then. */
export class FrameReader {
  private held = EMPTY;
  /** Of a large frame: whose it is, and how much of it is still to come. */
  private channel = 0;
  private left = 0;

  constructor(private readonly take: Take) {}

  push(chunk: Buffer): void {
    const bytes = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    this.held = EMPTY;
    let at = 0;
    while (at < bytes.length) {
      const next = this.left > 0 ? this.goOn(bytes, at) : this.begin(bytes, at);
      if (next === undefined) break;
      at = next;
    }
    if (at < bytes.length) this.held = bytes.subarray(at);
  }

  private goOn(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.left, bytes.length);
    this.left -= end - at;
    this.take(FRAME.data, this.channel, bytes.subarray(at, end));
    return end;
  }

  private begin(bytes: Buffer, at: number): number | undefined {
    const start = at + HEAD_BYTES;
    if (start > bytes.length) return undefined;
    const kind = bytes[at] as number;
    const channel = bytes.readUInt32LE(at + 1);
    const length = bytes.readUInt32LE(at + 5);
    if (!isFrameKind(kind) || (kind !== FRAME.data && length > 0)) throw new Error('this is no frame');
    if (start + length <= bytes.length) {
      this.take(kind, channel, bytes.subarray(start, start + length));
      return start + length;
    }
    if (length <= MAX_WHOLE_BYTES) return undefined;
    this.channel = channel;
    this.left = length;
    return start;
  }
}

function isFrameKind(kind: number): kind is FrameKind {
  return kind === FRAME.data || kind === FRAME.close || kind === FRAME.break;
}
