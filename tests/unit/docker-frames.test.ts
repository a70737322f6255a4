import { expect, test } from '@jest/globals';
import { FrameReader } from '@mcpbridge/orchestrator/providers/mcp/docker/frames.js';

function frame(stream: number, text: string): Buffer {
  const header = Buffer.alloc(8);
  header[0] = stream;
  header.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([header, Buffer.from(text)]);
}

function read(bytes: Buffer, chunkSize: number): { stdout: string; stderr: string } {
  const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const reader = new FrameReader({
    stdout: (chunk) => parts.stdout.push(Buffer.from(chunk)),
    stderr: (chunk) => parts.stderr.push(Buffer.from(chunk)),
  });
  for (let at = 0; at < bytes.length; at += chunkSize) reader.push(bytes.subarray(at, at + chunkSize));
  return { stdout: Buffer.concat(parts.stdout).toString(), stderr: Buffer.concat(parts.stderr).toString() };
}

const bytes = Buffer.concat([
  frame(1, 'first 🦊 '),
  frame(2, 'a warning '),
  frame(1, ''),
  frame(1, 'x'.repeat(300)),
  frame(2, 'the end'),
]);

test.each([1, 3, 7, 8, 9, 64, 10_000])(
  'frames that arrive in pieces of %d bytes are put together, each stream by itself',
  (chunkSize) => {
    expect(read(bytes, chunkSize)).toEqual({
      stdout: `first 🦊 ${'x'.repeat(300)}`,
      stderr: 'a warning the end',
    });
  },
);
