/** The head of a request that the fast lane may serve. */
export interface PlainHead {
  url: string;
  /** Names in lower case. */
  headers: Record<string, string | undefined>;
  /** Bytes of the body. */
  length: number;
}

/** As node:http has it; what is longer is for it to refuse. */
const MAX_HEAD_BYTES = 16 * 1024;
const REQUEST_LINE = /^POST (\/[\x21-\x7e]*) HTTP\/1\.1$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What changes how a message is framed or what its connection becomes. */
const NOT_PLAIN = ['transfer-encoding', 'expect', 'upgrade', 'trailer'];

/**
 * Reads a head that leaves no doubt: a POST of HTTP/1.1 with every field once and its length in digits, written as
 * RFC 9112 writes it. Of all others it answers undefined, never a guess: node:http then reads the same bytes, so that
 * two opinions about where a request ends cannot arise here.
 */
export function readPlainHead(bytes: Buffer): PlainHead | undefined {
  if (bytes.length > MAX_HEAD_BYTES) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1').split('\r\n');
  const url = REQUEST_LINE.exec(first)?.[1];
  if (url === undefined) return undefined;
  const headers: PlainHead['headers'] = {};
  const seen = new Set<string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = withoutPadding(line.slice(colon + 1));
    if (!NAME.test(name) || !VALUE.test(value) || seen.has(name)) return undefined;
    seen.add(name);
    headers[name] = value;
  }
  return isPlain(headers, seen) ? { url, headers, length: Number(headers['content-length']) } : undefined;
}

function isPlain(headers: PlainHead['headers'], names: ReadonlySet<string>): boolean {
  if (NOT_PLAIN.some((name) => names.has(name)) || names.has('__proto__')) return false;
  const { host, connection = 'keep-alive', 'content-length': length = '' } = headers;
  return host !== undefined && connection.toLowerCase() === 'keep-alive' && /^\d{1,15}$/.test(length);
}

/** Spaces and tabs around a value do not belong to it; other white space does, and is refused. */
function withoutPadding(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isPadding(text.charCodeAt(start))) start += 1;
  while (end > start && isPadding(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isPadding(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
