import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { Embedder, EmbedderChoice } from './embedder.js';
import { type Packed, pack } from './vectors.js';

const TIMEOUT_MS = 60_000;
const SHOWN = 300;

/** Any address that speaks OpenAI's `POST /embeddings`: OpenAI, Ollama, vLLM, llama.cpp … */
export function httpEmbedder({ url, model, key }: Extract<EmbedderChoice, { kind: 'http' }>): Embedder {
  return {
    name: model,
    batch: 64,
    async embed(texts) {
      const response = await fetch(`${url.replace(/\/+$/, '')}/embeddings`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
        body: JSON.stringify({ model, input: texts, encoding_format: 'float' }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`it answered ${response.status}: ${text.slice(0, SHOWN)}`);
      return vectorsOf(text, texts.length);
    },
  };
}

function vectorsOf(text: string, count: number): Packed[] {
  const answer: unknown = JSON.parse(text);
  const data = isObject(answer) && Array.isArray(answer.data) ? answer.data : [];
  const vectors = new Array<Packed>(count);
  for (const [position, entry] of data.entries()) {
    if (!isObject(entry) || !isVector(entry.embedding)) continue;
    vectors[typeof entry.index === 'number' ? entry.index : position] = pack(entry.embedding);
  }
  for (let at = 0; at < count; at += 1)
    if (!vectors[at]) throw new Error(`it gave no vector for text ${at + 1} of ${count}`);
  return vectors;
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number');
}
