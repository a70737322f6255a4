import type { IncomingMessage } from 'node:http';
import { AppError } from '@mcpbridge/shared/errors.js';

/**
 * The whole body of a request.
 * @throws BODY_TOO_LARGE; what still arrives is then read and thrown away, so that the sender sees the answer.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    const refuse = () => {
      request.removeAllListeners('data').resume();
      reject(new AppError('BODY_TOO_LARGE', `The request body is over the limit of ${maxBytes} bytes.`));
    };
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return refuse();
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length > maxBytes) refuse();
      else parts.push(part);
    });
    request.on('end', () => resolve(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)));
    request.on('error', reject);
  });
}

/** The body as JSON; undefined when it is empty. @throws INVALID_REQUEST */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const body = await readBody(request, maxBytes);
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new AppError('INVALID_REQUEST', `The request body is not JSON: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}
