import { readSync } from 'node:fs';

const WINDOW = 1024 * 1024;
/** A NUL within so many bytes: no text. */
const LOOKED_AT = 64 * 1024;
/** Bytes of a line beyond which the rest of it is not looked at. */
const MAX_LINE = 8 * WINDOW;
/** Bytes of a file in UTF-16, which is read whole. */
const MAX_WIDE = 64 * WINDOW;

/** One buffer for all files: a thread reads one after the other. */
const window = Buffer.allocUnsafe(WINDOW);

/**
 * The lines of an opened file without their ends (LF or CRLF); none where it is no text. Only a window of it is held.
 * `skip` is asked about every window and saves what it can: true, when nothing in it is of interest.
 */
export function* linesOf(descriptor: number, skip: (bytes: Buffer) => boolean): Generator<string | number> {
  let read = fill(descriptor);
  if (read === 0) return;
  let chunk = window.subarray(0, read);
  const wide = wideEncoding(chunk);
  if (wide) {
    yield* split(wideText(descriptor, chunk, wide).replace(/\n$/, ''));
    return;
  }
  if (chunk.subarray(0, LOOKED_AT).includes(0)) return;
  if (chunk.subarray(0, 3).equals(BOM)) chunk = chunk.subarray(3);

  const rest: Buffer[] = [];
  let held = 0;
  for (;;) {
    const end = chunk.lastIndexOf(LF);
    if (end !== -1) {
      const whole = held > 0 ? Buffer.concat([...rest, chunk.subarray(0, end)]) : chunk.subarray(0, end);
      rest.length = held = 0;
      if (skip(whole)) yield count(whole);
      else yield* split(whole.toString('utf8'));
    }
    const tail = chunk.subarray(end + 1);
    if (tail.length > 0 && held < MAX_LINE) {
      // The window is used again.
      rest.push(Buffer.from(tail));
      held += tail.length;
    }
    read = fill(descriptor);
    if (read === 0) break;
    chunk = window.subarray(0, read);
  }
  if (held > 0) {
    const last = Buffer.concat(rest);
    if (!skip(last)) yield* split(last.toString('utf8'));
  }
}

const LF = 10;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

function fill(descriptor: number): number {
  return readSync(descriptor, window, 0, WINDOW, null);
}

/** How many lines were skipped. */
function count(bytes: Buffer): number {
  let lines = 1;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines += 1;
  return lines;
}

function* split(text: string): Generator<string> {
  let begin = 0;
  for (;;) {
    const end = text.indexOf('\n', begin);
    const line = end === -1 ? text.slice(begin) : text.slice(begin, end);
    yield line.endsWith('\r') ? line.slice(0, -1) : line;
    if (end === -1) return;
    begin = end + 1;
  }
}

function wideEncoding(chunk: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (chunk[0] === 0xff && chunk[1] === 0xfe) return 'utf-16le';
  return chunk[0] === 0xfe && chunk[1] === 0xff ? 'utf-16be' : undefined;
}

function wideText(descriptor: number, first: Buffer, encoding: string): string {
  const parts = [Buffer.from(first)];
  let held = first.length;
  for (let read = fill(descriptor); read > 0 && held < MAX_WIDE; read = fill(descriptor)) {
    parts.push(Buffer.from(window.subarray(0, read)));
    held += read;
  }
  return new TextDecoder(encoding).decode(Buffer.concat(parts));
}
