import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { Scope } from '../search/scope.js';
import type { Embedder, EmbedderChoice } from './embedder.js';
import { httpEmbedder } from './http-embedder.js';
import { IndexStore } from './index-store.js';
import { Indexer } from './indexer.js';
import { localEmbedder } from './local-embedder.js';

export interface IndexThreadData {
  file: string;
  embedder: EmbedderChoice;
  /** Milliseconds that one question may spend on reading files. */
  budgetMs: number;
}

export type Question =
  | { kind: 'search'; scope: Scope; query: string; limit: number }
  | { kind: 'process'; scope: Scope; path: string; content?: string }
  | { kind: 'forget'; scope: Scope; path: string }
  | { kind: 'changed'; root: string; paths: string[] }
  | { kind: 'close' };

const { file, embedder, budgetMs } = workerData as IndexThreadData;
const indexer = IndexStore.open(file).then((store) => new Indexer(store, embedderOf(embedder), budgetMs));
// Told to whoever asks.
indexer.catch(() => {});

parentPort?.on('message', ({ id, question }: { id: number; question: Question }) => {
  answer(question).then(
    (result) => parentPort?.postMessage({ id, result }),
    (error) => parentPort?.postMessage({ id, error: messageOf(error) }),
  );
});

async function answer(question: Question): Promise<unknown> {
  const ready = await indexer;
  switch (question.kind) {
    case 'search':
      return ready.search(question.scope, question.query, question.limit);
    case 'process':
      return ready.process(question.scope, question.path, question.content);
    case 'forget':
      return ready.forget(question.scope, question.path);
    case 'changed':
      return ready.changed(question.root, question.paths);
    case 'close':
      return ready.close();
  }
}

function embedderOf(choice: EmbedderChoice): Embedder | undefined {
  if (choice.kind === 'none') return undefined;
  return choice.kind === 'local' ? localEmbedder() : httpEmbedder(choice);
}
