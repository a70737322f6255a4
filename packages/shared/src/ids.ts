import { randomUUID } from 'node:crypto';

/**
 * A UUID of version 7 (RFC 9562): as unguessable as a random one within its millisecond, and ids made later sort later.
 * A database writes those next to each other, which costs it a fraction of what random ones do.
 */
export function timeOrderedId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
