import { holdsSecret, mayHoldSecret, redactByKey } from '@mcpbridge/shared/redact.js';
import { isWithin } from './weight.js';

export interface BoundedJson {
  /** JSON when nothing was cut, else its beginning and a mark that says how much is missing. */
  text: string;
  /** Bytes of the whole value as JSON. */
  bytes: number;
  /** Bytes that `text` lacks. */
  cut: number;
}

/** A JSON value with its secrets redacted, in at most `limit` bytes of valid UTF-8 and, where cut, a mark. */
export function boundedJson(value: unknown, limit: number, hide?: (text: string) => string): BoundedJson {
  const text = JSON.stringify(redacted(value, limit, hide)) ?? 'null';
  const size = Buffer.byteLength(text);
  if (size <= limit) return { text, bytes: size, cut: 0 };
  const head = cutText(text, limit);
  const bytes = Math.max(size, weigh(value));
  const cut = bytes - Buffer.byteLength(head);
  return { text: `${head}… [${cut} bytes cut]`, bytes, cut };
}

/** As `boundedJson` of what a text of JSON.stringify stands for; most are short and hold no secret, and are not read. */
export function boundedText(json: string, limit: number, hide: (text: string) => string): BoundedJson {
  if (json.length <= limit && !mayHoldSecret(json, hide)) {
    const bytes = Buffer.byteLength(json);
    if (bytes <= limit) return { text: json, bytes, cut: 0 };
  }
  return boundedJson(JSON.parse(json), limit, hide);
}

/** Not all of what will be cut. What ran out of these characters is longer than the limit, so what fits is whole. */
function redacted(value: unknown, limit: number, hide: ((text: string) => string) | undefined): unknown {
  // Most values are short and hold no secret: they need no copy.
  if (hide && isWithin(value, limit) && !holdsSecret(value, hide)) return value;
  return redactByKey(value, { characters: 2 * limit, ...(hide ? { hide } : {}) });
}

/** What a bounded text holds, without the words about what it does not. */
export function withoutMark(text: string, cut: number): string {
  return cut === 0 ? text : text.slice(0, text.lastIndexOf('… ['));
}

/** The beginning of a text in at most `limit` bytes of UTF-8, never ending within a character. */
export function cutText(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text;
  const bytes = Buffer.from(text.slice(0, limit), 'utf8');
  if (bytes.length <= limit) return bytes.toString('utf8');
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Bytes of a value as JSON, without writing it; escapes count as the characters that they stand for. */
export function weigh(value: unknown, depth = 100): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  if (depth === 0) return 2;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) bytes += weigh(item, depth - 1) + 1;
    return value.length > 0 ? bytes - 1 : bytes;
  }
  const entries = Object.entries(value);
  for (const [name, inner] of entries) bytes += Buffer.byteLength(name) + 4 + weigh(inner, depth - 1);
  return entries.length > 0 ? bytes - 1 : bytes;
}
