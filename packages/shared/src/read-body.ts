import type { IncomingMessage } from 'node:http';
import { AppError } from './errors.js';

/** So many times the limit are still read, and thrown away, for the sender to see the answer instead of a broken pipe. */
const DRAIN_FACTOR = 8;

/**
 * The whole body of a request.
 * @throws BODY_TOO_LARGE when it is over the limit; nothing of it is kept then.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let parts: Buffer[] = [];
    let length = 0;
    const tooLarge = () =>
      reject(new AppError('BODY_TOO_LARGE', `The request body is over the limit of ${maxBytes} bytes.`));
    request.on('data', (part: Buffer) => {
      length += part.length;
      if (length <= maxBytes) parts.push(part);
      else parts = [];
      if (length > maxBytes * DRAIN_FACTOR) {
        tooLarge();
        request.destroy();
      }
    });
    request.on('end', () => {
      if (length > maxBytes) tooLarge();
      else resolve(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));
    });
    request.on('error', reject);
  });
}

/** A body as JSON; undefined when it is empty. @throws INVALID_REQUEST */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    const reason = (error as Error).message;
    throw new AppError('INVALID_REQUEST', `The request body is not JSON: ${reason}.`, { cause: error });
  }
}
