import type { Readable } from 'node:stream';

/** A stream that floods rests so many times as long as its last chunk took: others get four fifths of the time. */
const REST = 4;

/** Reads a stream; while it floods, slower than it writes, so that its writer waits. */
export function readPaced(
  stream: Readable,
  take: (chunk: Buffer) => void,
  isFlooding: (chunk: Buffer) => boolean,
): void {
  stream.on('data', (chunk: Buffer) => {
    if (!isFlooding(chunk)) return take(chunk);
    const started = performance.now();
    take(chunk);
    stream.pause();
    setTimeout(() => stream.resume(), REST * (performance.now() - started));
  });
}
