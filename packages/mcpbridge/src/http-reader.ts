export interface AnswerHead {
  status: number;
  /** Names in lower case; of a name that comes twice the first. */
  headers: Record<string, string | undefined>;
}

/** What hears of the answers on one connection as their bytes come in. */
interface HttpListener {
  onHead(head: AnswerHead): void;
  /** A piece of the body, in the bytes that it came in. */
  onPart(part: Buffer): void;
  onEnd(): void;
}

type State = 'head' | 'body' | 'chunk size' | 'chunk' | 'chunk end' | 'trailers';

const CRLF = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const EMPTY: Buffer = Buffer.alloc(0);
const MAX_HEAD_BYTES = 64 * 1024;

/**
 * Reads the answers of HTTP/1.1 that come over one connection, in time linear in their bytes and with no copy of a
 * body. `push` throws at what is not HTTP; the connection is then of no use any more.
 */
export class HttpReader {
  /** The connection may carry another request. */
  keepsAlive = true;
  private state: State = 'head';
  /** Bytes of the body, or of this chunk, still to come; of a body without a length, infinitely many. */
  private left = 0;
  /** The start of a head or of a line whose end has not come. */
  private held = EMPTY;
  /** Answers to calls of one kind within one second mostly have the same. */
  private latest: ({ text: string } & ParsedHead) | undefined;

  constructor(private readonly listener: HttpListener) {}

  push(part: Buffer): void {
    const bytes = this.held.length === 0 ? part : Buffer.concat([this.held, part]);
    this.held = EMPTY;
    let at = 0;
    while (at < bytes.length) {
      const next = this.read(bytes, at);
      if (next === undefined) break;
      at = next;
    }
    if (at === bytes.length) return;
    if (bytes.length - at > MAX_HEAD_BYTES) throw new Error('the answer has a head without end');
    this.held = bytes.subarray(at);
  }

  /** The connection was closed, which is how a body without a length ends. */
  close(): void {
    if (this.left === Number.POSITIVE_INFINITY) this.end();
  }

  /** Reads on from `at`; answers up to where, undefined where the next thing has not come whole. */
  private read(bytes: Buffer, at: number): number | undefined {
    if (this.state === 'head') return this.readHead(bytes, at);
    if (this.state === 'body' || this.state === 'chunk') return this.readBody(bytes, at);
    const end = bytes.indexOf(CRLF, at);
    if (end === -1) return undefined;
    if (this.state === 'chunk size') this.openChunk(bytes.toString('latin1', at, end));
    else if (this.state === 'chunk end') this.state = 'chunk size';
    // Of the lines after the last chunk only the empty one at their end says something.
    else if (end === at) this.end();
    return end + CRLF.length;
  }

  private readHead(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(HEAD_END, at);
    if (end === -1) return undefined;
    const text = bytes.toString('latin1', at, end);
    if (text !== this.latest?.text) this.latest = { text, ...parseHead(text) };
    // 1xx: the answer proper comes after it.
    if (this.latest.head.status >= 200) this.openBody(this.latest.version, this.latest.head);
    return end + HEAD_END.length;
  }

  private openBody(version: string, head: AnswerHead): void {
    const { status, headers } = head;
    this.keepsAlive = version === '1.1' && !/\bclose\b/i.test(headers.connection ?? '');
    const isEmpty = status === 204 || status === 304;
    if (!isEmpty && /\bchunked\s*$/i.test(headers['transfer-encoding'] ?? '')) {
      this.state = 'chunk size';
    } else {
      this.state = 'body';
      this.left = isEmpty ? 0 : lengthOf(headers['content-length']);
      if (this.left === Number.POSITIVE_INFINITY) this.keepsAlive = false;
    }
    this.listener.onHead(head);
    if (this.state === 'body' && this.left === 0) this.end();
  }

  private readBody(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.left, bytes.length);
    this.left -= end - at;
    this.listener.onPart(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    if (this.left > 0) return end;
    if (this.state === 'body') this.end();
    else this.state = 'chunk end';
    return end;
  }

  private openChunk(line: string): void {
    const size = /^[0-9a-f]{1,12}(?=\s*(;|$))/i.exec(line)?.[0];
    if (size === undefined) throw new Error('the answer has a chunk without a size');
    this.left = Number.parseInt(size, 16);
    this.state = this.left === 0 ? 'trailers' : 'chunk';
  }

  private end(): void {
    this.state = 'head';
    this.left = 0;
    this.listener.onEnd();
  }
}

interface ParsedHead {
  version: string;
  head: AnswerHead;
}

function parseHead(text: string): ParsedHead {
  const [first = '', ...lines] = text.split('\r\n');
  const [, version, status] = /^HTTP\/(1\.[01]) (\d{3})(?: |$)/.exec(first) ?? [];
  if (version === undefined) throw new Error('the answer is not HTTP');
  const headers: AnswerHead['headers'] = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] ??= line.slice(colon + 1).trim();
  }
  return { version, head: { status: Number(status), headers } };
}

function lengthOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^\d{1,15}$/.test(text)) throw new Error('the answer has a length that is no number');
  return Number(text);
}
