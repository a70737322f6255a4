import { StringDecoder } from 'node:string_decoder';

/** The two ends of what was printed, within a number of bytes; what is left out is the middle. */
export class CappedOutput {
  private readonly decoder = new StringDecoder('utf8');
  private readonly headBytes: number;
  private readonly tailBytes: number;
  private head: string[] = [];
  private headSize = 0;
  /** Since the head is full. */
  private tail: string[] = [];
  private tailSize = 0;
  private isFull = false;
  total = 0;

  constructor(maxBytes: number) {
    this.headBytes = Math.ceil((maxBytes * 2) / 3);
    this.tailBytes = maxBytes - this.headBytes;
  }

  /** Answers the text that this made whole: a character in two pieces comes with its second. */
  add(chunk: Buffer): string {
    this.total += chunk.length;
    const text = this.decoder.write(chunk);
    this.keep(text);
    return text;
  }

  end(): string {
    const text = this.decoder.end();
    this.keep(text);
    return text;
  }

  /** Is something left out? */
  get isCut(): boolean {
    return this.tailSize > this.tailBytes;
  }

  /** All of it, or head and tail with a line between them that says what is missing. */
  text(): string {
    const head = this.head.join('');
    const rest = this.tail.join('');
    const tail = endOf(rest, this.tailBytes);
    const missing = this.tailSize - Buffer.byteLength(tail);
    if (!this.isCut) return head + rest;
    return `${head}\n[… ${missing} bytes left out here; write into a file to keep all …]\n${tail}`;
  }

  private keep(text: string): void {
    if (text === '') return;
    let rest = text;
    if (!this.isFull) {
      const kept = beginOf(text, this.headBytes - this.headSize);
      this.head.push(kept);
      this.headSize += Buffer.byteLength(kept);
      rest = text.slice(kept.length);
      this.isFull = rest !== '';
    }
    if (rest === '') return;
    this.tail.push(rest);
    this.tailSize += Buffer.byteLength(rest);
    // Not with every piece: a long tail is cut only when there is twice as much of it.
    if (this.tail.length > 64 || rest.length > this.tailBytes) this.shorten();
  }

  private shorten(): void {
    const text = this.tail.join('');
    // Some more than is shown, so that what is counted as missing stays right at the edge.
    this.tail = [text.length > this.tailBytes * 2 ? text.slice(-this.tailBytes * 2) : text];
  }
}

/** As much of its beginning as fits; characters stay whole. */
function beginOf(text: string, maxBytes: number): string {
  if (maxBytes <= 0) return '';
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && isInside(bytes[end])) end -= 1;
  return bytes.toString('utf8', 0, end);
}

function endOf(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (start < bytes.length && isInside(bytes[start])) start += 1;
  return bytes.toString('utf8', start);
}

/** Not the first byte of a character. */
function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
