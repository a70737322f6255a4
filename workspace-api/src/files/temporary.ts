import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { OpenFolder } from '../root/open-folders.js';

/** Bytes from anywhere: a request, another file, memory. */
export type Source = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** A file that is being written, beside the one that it will become; nobody sees it under its name. */
export interface Temporary {
  at: string;
  handle: FileHandle;
  /** Closes it, and takes it away unless it was renamed. */
  end(): Promise<void>;
}

const FLAGS = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | (constants.O_NOFOLLOW ?? 0);

/** Writes it all; on failure nothing is left. */
export async function writeTemporary(folder: Pick<OpenFolder, 'at'>, source: Source): Promise<Temporary> {
  const at = folder.at(`.mcpbridge-${randomUUID()}.tmp`);
  const handle = await open(at, FLAGS, 0o666);
  const end = async () => {
    await handle.close();
    // Renamed is not there any more, which is what was wanted.
    await unlink(at).catch(() => undefined);
  };
  try {
    for await (const bytes of source) await handle.writev([bytes]);
    return { at, handle, end };
  } catch (thrown) {
    await end();
    throw thrown;
  }
}

/** @throws BODY_TOO_LARGE when there is more. */
export async function* atMost(
  maxBytes: number,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const bytes of source) {
    length += bytes.length;
    if (length > maxBytes) throw new AppError('BODY_TOO_LARGE', `A file here has at most ${maxBytes} bytes.`);
    yield bytes;
  }
}

export async function* chunksOf(handle: FileHandle, start = 0, end = Number.POSITIVE_INFINITY) {
  const size = 256 * 1024;
  for (let at = start; at < end; ) {
    const { bytesRead, buffer } = await handle.read(
      Buffer.allocUnsafe(Math.min(size, end - at)),
      0,
      Math.min(size, end - at),
      at,
    );
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
