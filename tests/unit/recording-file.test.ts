import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readRecording } from '@mcpbridge/orchestrator/recordings/recording-file.js';

const HEAD = '{"recording":1,"session":"s","startedAt":"2026-11-30T00:00:00Z","tools":[]}';
const FRAME = '{"at":1,"server":"a","way":"to","frame":{"jsonrpc":"2.0"}}';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpbridge-test-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(...lines: string[]) {
  const file = join(folder, 'recording.jsonl');
  await writeFile(file, lines.join('\n'));
  return readRecording(file);
}

test('a recording whose last line was cut off is read up to there', async () => {
  const { frames, calls } = await read(HEAD, FRAME, '{"at":2,"ser');
  expect([frames.length, calls.length]).toEqual([1, 0]);
});

test.each([
  ['nothing', []],
  ['another JSON', ['{"a":1}']],
  ['tools without names', ['{"recording":1,"session":"s","tools":[{}]}']],
  ['a call without its tool', [HEAD, '{"at":1,"call":{"id":"1"}}']],
  ['a frame that goes nowhere', [HEAD, FRAME.replace('"to"', '"up"')]],
])('a file that holds %s is refused with one sentence', async (_, lines) => {
  await expect(read(...lines)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});
