import type { Outgoing } from './attempt.js';

/** One piece or, with a large body, two: a head and the body as it is. */
export type RequestBytes = readonly [Buffer, Buffer?];

/** Up to here one copy is cheaper than a vector of writes. */
const JOIN_BYTES = 64 * 1024;
const NO_HEADER_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** A request as HTTP/1.1 writes it; throws at a header that it cannot carry. */
export function requestBytes({ method, path, headers, body }: Outgoing): RequestBytes {
  let head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const value = headers[index + 1] ?? '';
    if (NO_HEADER_VALUE.test(value)) throw new TypeError(`${headers[index]} cannot be sent as a header`);
    head += `${headers[index]}: ${value}\r\n`;
  }
  if (body === undefined) return [Buffer.from(`${head}\r\n`, 'latin1')];
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  head += `Content-Length: ${content.length}\r\n\r\n`;
  if (content.length > JOIN_BYTES) return [Buffer.from(head, 'latin1'), content];
  const joined = Buffer.allocUnsafe(head.length + content.length);
  joined.write(head, 'latin1');
  content.copy(joined, head.length);
  return [joined];
}
