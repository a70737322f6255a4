import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Embedder } from './embedder.js';
import { pack } from './vectors.js';
import { WordPieces } from './word-pieces.js';

const MAGIC = 'MCPWORDS';
const HEAD = 20;
const MAX_PIECES = 512;

/** The vectors that come with this package (workspace-api/model): a text's is the mean of its pieces'. */
export function localEmbedder(): Embedder {
  const model = readModel();
  const pieces = new WordPieces(model.pieces);
  return {
    name: 'english-words-128',
    batch: 256,
    embed: async (texts) => texts.map((text) => pack(meanOf(pieces.idsOf(text, MAX_PIECES), model))),
  };
}

interface Model {
  pieces: string[];
  dimensions: number;
  scales: Float32Array;
  numbers: Int8Array;
}

function readModel(): Model {
  const bytes = readFileSync(
    createRequire(import.meta.url).resolve('@mcpbridge/workspace-api/model/english.bin'),
  );
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw new Error('The file of word vectors is broken.');
  const [count, dimensions, length] = [bytes.readUInt32LE(8), bytes.readUInt32LE(12), bytes.readUInt32LE(16)];
  const end = HEAD + length;
  const pieces = bytes.toString('utf8', HEAD, end).trimEnd().split('\n');
  const scales = new Float32Array(count);
  for (let at = 0; at < count; at += 1) scales[at] = bytes.readFloatLE(end + at * 4);
  const numbers = new Int8Array(bytes.buffer, bytes.byteOffset + end + count * 4, count * dimensions);
  return { pieces, dimensions, scales, numbers };
}

function meanOf(ids: readonly number[], { dimensions, scales, numbers }: Model): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const id of ids) {
    const scale = scales[id] ?? 0;
    const begin = id * dimensions;
    for (let at = 0; at < dimensions; at += 1) sum[at] = (sum[at] ?? 0) + (numbers[begin + at] ?? 0) * scale;
  }
  return sum;
}
