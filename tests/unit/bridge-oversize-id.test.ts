import { expect, test } from '@jest/globals';
import { LineReader } from '@mcpbridge/shared/framing.js';
import { oversizeId } from '@mcpbridge/shared/oversize-id.js';

const idOf = (head: string, tail = '') => oversizeId(Buffer.from(head), Buffer.from(tail));

test.each([
  ['{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"', 7],
  ['{"jsonrpc":"2.0", "id" : "a\\"b" , "method":"x","params":{"a":"', 'a"b'],
  ['{"id":-1,"result":{', -1],
  ['{"params":{"id":5,"a":[{"id":6}]},"id":7,"x":"', 7],
  ['{"params":{"id":5,"a":"}}, \\"id\\":6', null],
  ['{"method":"id","params":{"a":"', null],
  ['{"id":null,"params":{"a":"', null],
  ['[{"id":1,', null],
  ['', null],
])('the head %s shows the id %j', (head, id) => {
  expect(idOf(head)).toBe(id);
});

test.each([
  ['xxx"}]},"jsonrpc":"2.0","id":7}', 7],
  ['xxx"}]},"id":"seven","jsonrpc":"2.0"}\r', 'seven'],
  ['xxx"},"id":7}}', null],
  ['xxx \\"id\\":7}"}', null],
  ['xxx"}', null],
])('the tail %s shows the id %j', (tail, id) => {
  expect(idOf('{"params":{"a":"', tail)).toBe(id);
});

test.each([1, 3, 1000, 5000])(
  'a line that is too long is reported with its ends, in chunks of %d bytes',
  (size) => {
    const seen: unknown[] = [];
    const reader = new LineReader({
      maxBytes: 3000,
      onLine: (line) => seen.push(line.toString()),
      onOversize: (head, bytes, tail) => seen.push([head.length, bytes, oversizeId(head, tail)]),
    });
    const line = `{"params":"${'x'.repeat(4000)}","id":9}`;
    const bytes = Buffer.from(`before\n${line}\nafter\n`);
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    expect(seen).toEqual(['before', [1024, line.length, 9], 'after']);
  },
);
