const NEWLINE = 0x0a;

interface LineReaderOptions {
  /** Bytes a line may have; a longer one is dropped whole and reported, the next line is read as usual. */
  maxBytes: number;
  onLine(line: Buffer): void;
  /** The first and last kilobyte of the dropped line: `oversizeId` finds the JSON-RPC id in them. */
  onOversize(head: Buffer, bytes: number, tail: Buffer): void;
  /** Told with every part of such a line, as its end may never come. */
  onGrowing?(head: Buffer, bytes: number): void;
}

const END_BYTES = 1024;

/**
 * Cuts a byte stream into lines without their line ends, in time linear in the bytes: a long line is joined once.
 * Bytes, not text: a character split over two chunks stays whole.
 */
export class LineReader {
  private parts: Buffer[] = [];
  private length = 0;
  private oversize = false;
  private tail: Buffer = Buffer.alloc(0);

  constructor(private readonly options: LineReaderOptions) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.add(chunk.subarray(start, end));
      this.finishLine();
      start = end + 1;
    }
    if (start < chunk.length) this.add(chunk.subarray(start));
  }

  /** What stands after the last line end; some programs end without one. */
  end(): void {
    this.finishLine();
  }

  private add(part: Buffer): void {
    this.length += part.length;
    if (!this.oversize && this.length > this.options.maxBytes) {
      this.oversize = true;
      this.tail = lastOf([...this.parts.slice(-1), part]);
      this.parts = [Buffer.concat([...this.parts, part], END_BYTES)];
    } else if (this.oversize) {
      this.tail = lastOf([this.tail, part]);
    } else {
      this.parts.push(part);
    }
    if (this.oversize && this.parts[0]) this.options.onGrowing?.(this.parts[0], this.length);
  }

  private finishLine(): void {
    const { parts, length, oversize } = this;
    this.parts = [];
    this.length = 0;
    this.oversize = false;
    if (length === 0) return;
    const line = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    if (oversize) this.options.onOversize(line, length, this.tail);
    else this.options.onLine(line);
  }
}

/** A copy, so that the large chunk that it was cut from is not kept alive. */
function lastOf(parts: Buffer[]): Buffer {
  return Buffer.from(Buffer.concat(parts.map((part) => part.subarray(-END_BYTES))).subarray(-END_BYTES));
}
