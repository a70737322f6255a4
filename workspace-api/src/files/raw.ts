import type { IncomingMessage, ServerResponse } from 'node:http';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '@mcpbridge/shared/errors.js';
import parseRange from 'range-parser';
import type { OpenFile } from '../root/workspace-root.js';
import { etagOf, names } from './etag.js';
import { mimeOf } from './file-kind.js';
import { chunksOf } from './temporary.js';

/** Answers with the bytes of a file, or the part of them that is asked for, a piece at a time; closes the file. */
export async function sendRaw(
  request: IncomingMessage,
  response: ServerResponse,
  file: OpenFile,
  asDownload: boolean,
): Promise<void> {
  try {
    const etag = etagOf(file.stats);
    const common = { etag, 'last-modified': file.stats.mtime.toUTCString(), 'accept-ranges': 'bytes' };
    const known = request.headers['if-none-match'];
    if (known !== undefined && names(known, etag)) {
      response.writeHead(304, common).end();
      return;
    }
    const size = Number(file.stats.size);
    const part = partOf(request, etag, size);
    response.writeHead(part ? 206 : 200, {
      ...common,
      'content-type': mimeOf(file.path),
      'content-length': part ? part.end - part.start : size,
      // What an agent wrote is shown as what it says it is, and runs nothing in a page of ours.
      'content-disposition': `${asDownload ? 'attachment' : 'inline'}; filename*=UTF-8''${encoded(posix.basename(file.path))}`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      ...(part ? { 'content-range': `bytes ${part.start}-${part.end - 1}/${size}` } : {}),
    });
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    // A file that was cut meanwhile must break the connection: the next answer on it would be taken for the rest.
    response.strictContentLength = true;
    // The end is that of the moment when the length was told: a file that grows meanwhile does not break the answer.
    await pipeline(Readable.from(chunksOf(file.handle, part?.start ?? 0, part?.end ?? size)), response);
  } finally {
    await file.handle.close();
  }
}

/** One part; for several the whole is a right answer, too. `end` is the first byte that is not in it. */
function partOf(
  { headers }: IncomingMessage,
  etag: string,
  size: number,
): { start: number; end: number } | undefined {
  const { range, 'if-range': ifRange } = headers;
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return undefined;
  const ranges = parseRange(size, range);
  if (ranges === -1)
    throw new AppError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes, none of them in "${range}".`, {
      details: { size },
    });
  const [first] = ranges === -2 ? [] : ranges;
  if (!first || ranges === -2 || ranges.length > 1 || ranges.type !== 'bytes') return undefined;
  return { start: first.start, end: first.end + 1 };
}

function encoded(name: string): string {
  return encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}
