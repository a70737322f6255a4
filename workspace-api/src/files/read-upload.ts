import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { type Temporary, writeTemporary } from './temporary.js';

export interface Upload {
  /** Fields that are no files. */
  fields: Record<string, string>;
  /** In the order in which they were sent. */
  files: UploadedFile[];
}

interface UploadedFile {
  filename: string;
  temporary: Temporary;
}

const MAX_FILES = 100;
const MAX_FIELDS = 20;
const MAX_FIELD_BYTES = 64 * 1024;

/** Reads a multipart body, each file straight onto the disk; on failure nothing is left. Whoever gets the files ends them. */
export async function readUpload(
  request: IncomingMessage,
  folder: { at(name: string): string },
  maxFileBytes: number,
): Promise<Upload> {
  const fields: Upload['fields'] = {};
  const writing: Promise<UploadedFile>[] = [];
  const busboy = parser(request, maxFileBytes);
  busboy.on('error', () => undefined);
  busboy.on('field', (name, value) => {
    fields[name] = value;
  });
  busboy.on('file', (_field, stream, filename) => {
    // A body that is cut off is told to the file as well, also when nobody reads it any more.
    stream.on('error', () => undefined);
    const written = writeTemporary(folder, whole(stream, filename, maxFileBytes)).then((temporary) => ({
      filename,
      temporary,
    }));
    // Whoever waits hears of it; until then it is no unhandled one.
    written.catch((error) => busboy.destroy(error));
    writing.push(written);
  });
  for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const)
    busboy.on(event, () =>
      busboy.destroy(new AppError('BODY_TOO_LARGE', `At most ${MAX_FILES} files at once.`)),
    );
  try {
    await pipeline(request.iterator({ destroyOnReturn: false }), busboy);
    return { fields, files: await Promise.all(writing) };
  } catch (thrown) {
    for (const written of await Promise.allSettled(writing))
      if (written.status === 'fulfilled') await written.value.temporary.end();
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('INVALID_REQUEST', `The upload is no whole multipart body: ${messageOf(thrown)}.`);
  }
}

function parser(request: IncomingMessage, maxFileBytes: number): BusboyInstance {
  try {
    const headers = { ...request.headers, 'content-type': request.headers['content-type'] ?? '' };
    const limits = {
      fileSize: maxFileBytes,
      files: MAX_FILES,
      fields: MAX_FIELDS,
      fieldSize: MAX_FIELD_BYTES,
    };
    return new Busboy({ headers, limits });
  } catch (thrown) {
    throw new AppError('INVALID_REQUEST', `Send the files as multipart/form-data: ${messageOf(thrown)}.`);
  }
}

async function* whole(
  stream: Readable & { truncated?: boolean },
  filename: string,
  maxFileBytes: number,
): AsyncGenerator<Uint8Array> {
  yield* stream;
  if (stream.truncated)
    throw new AppError('BODY_TOO_LARGE', `"${filename}" has more than ${maxFileBytes} bytes.`);
}
