const HEADER_BYTES = 8;
const STDERR = 2;

interface Streams {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
}

/**
 * Takes apart the one stream in which an engine sends stdout and stderr of a container: frames of one byte for the
 * stream, three of nothing, four for the length, then the bytes. These are passed on as they come, never collected, so
 * a large message costs no more than its length.
 */
export class FrameReader {
  private readonly header = Buffer.alloc(HEADER_BYTES);
  private headerBytes = 0;
  private left = 0;

  constructor(private readonly streams: Streams) {}

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at = this.left > 0 ? this.pass(chunk, at) : this.readHeader(chunk, at);
  }

  private pass(chunk: Buffer, start: number): number {
    const end = Math.min(chunk.length, start + this.left);
    this.left -= end - start;
    const part = chunk.subarray(start, end);
    if (this.header[0] === STDERR) this.streams.stderr(part);
    else this.streams.stdout(part);
    return end;
  }

  private readHeader(chunk: Buffer, start: number): number {
    const copied = chunk.copy(this.header, this.headerBytes, start, start + HEADER_BYTES - this.headerBytes);
    this.headerBytes += copied;
    if (this.headerBytes === HEADER_BYTES) {
      this.headerBytes = 0;
      this.left = this.header.readUInt32BE(4);
    }
    return start + copied;
  }
}
