import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { AppError } from '@mcpbridge/shared/errors.js';
import { quoted } from '../root/paths.js';
import type { OpenFile } from '../root/workspace-root.js';
import { etagOf } from './etag.js';
import { type Entry, entryOf, isText } from './file-kind.js';
import { chunksOf } from './temporary.js';

/** Of a file that travels within JSON. */
const MAX_BYTES = 10 * 1024 * 1024;

export interface Document extends Entry {
  content: string;
  encoding: 'utf-8' | 'base64';
  is_binary: boolean;
  etag: string;
  /** Where only some lines were asked for: the number of the first, and whether there are more behind. */
  first_line?: number;
  has_more?: boolean;
}

export interface LineWindow {
  /** From 1. */
  first: number;
  count: number;
}

/** A file with its content, text as it is and all else in base64; closes the file. */
export async function readDocument(file: OpenFile, shown: string, lines?: LineWindow): Promise<Document> {
  try {
    const entry = { ...entryOf(shown, file.stats), etag: etagOf(file.stats) };
    if (lines && (await startsAsText(file)))
      return { ...entry, ...(await readLines(file, lines)), encoding: 'utf-8', is_binary: false };
    if (entry.size > MAX_BYTES)
      throw new AppError(
        'BODY_TOO_LARGE',
        `${quoted(shown)} has ${entry.size} bytes, more than the ${MAX_BYTES} that travel in JSON: ask for some lines (first_line, lines) or for the bytes (raw).`,
      );
    const bytes = await readAll(file);
    const isPlain = isText(bytes);
    const encoding = isPlain ? 'utf-8' : 'base64';
    return { ...entry, content: bytes.toString(encoding), encoding, is_binary: !isPlain };
  } finally {
    await file.handle.close();
  }
}

/** As git has it: what has no NUL at its beginning is read by lines. */
async function startsAsText({ handle }: OpenFile): Promise<boolean> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
  return !buffer.subarray(0, bytesRead).includes(0);
}

/** As long as it is now, whatever it was when it was opened, within the limit. */
export async function readAll({ handle }: Pick<OpenFile, 'handle'>, maxBytes = MAX_BYTES): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const bytes of chunksOf(handle, 0, maxBytes)) parts.push(bytes);
  return Buffer.concat(parts);
}

async function readLines(
  { handle }: OpenFile,
  { first, count }: LineWindow,
): Promise<{ content: string; first_line: number; has_more: boolean }> {
  const found: string[] = [];
  let number = 0;
  let bytes = 0;
  const source = Readable.from(chunksOf(handle), { objectMode: false });
  const lines = createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    number += 1;
    if (number < first) continue;
    bytes += line.length;
    if (found.length === count || (bytes > MAX_BYTES && found.length > 0))
      return { content: found.join('\n'), first_line: first, has_more: true };
    found.push(line);
  }
  return { content: found.join('\n'), first_line: first, has_more: false };
}
