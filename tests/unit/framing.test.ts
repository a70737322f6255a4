import { describe, expect, test } from '@jest/globals';
import { LineReader } from '@mcpbridge/shared/framing.js';

function reader(maxBytes = 1000) {
  const lines: string[] = [];
  const oversize: number[] = [];
  const lineReader = new LineReader({
    maxBytes,
    onLine: (line) => lines.push(line.toString('utf8')),
    onOversize: (_head, bytes) => oversize.push(bytes),
  });
  return { lineReader, lines, oversize };
}

describe('lines', () => {
  test('are the same however the bytes were cut', () => {
    const text = 'first 🦊\n\nsecond ä\nlast without an end';
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size++) {
      const { lineReader, lines } = reader();
      for (let start = 0; start < bytes.length; start += size)
        lineReader.push(bytes.subarray(start, start + size));
      lineReader.end();
      expect(lines).toEqual(['first 🦊', 'second ä', 'last without an end']);
    }
  });

  test('over the limit are dropped and reported with their length, and the next one is read', () => {
    const { lineReader, lines, oversize } = reader(10);
    for (const part of ['x'.repeat(8), 'x'.repeat(8), 'x'.repeat(8), '\nnext\n'])
      lineReader.push(Buffer.from(part));
    expect([lines, oversize]).toEqual([['next'], [24]]);
  });
});
