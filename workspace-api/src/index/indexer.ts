import { lstatSync, type Stats } from 'node:fs';
import { extname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { maySee, type Scope } from '../search/scope.js';
import { readText } from '../search/text-lines.js';
import { walk } from '../search/walk.js';
import { chunksOf } from './chunks.js';
import type { Embedder } from './embedder.js';
import type { IndexStore, StoredChunk } from './index-store.js';
import { nearest } from './nearest.js';
import { visible } from './visible.js';

/** Files that are larger are no reading. */
const MAX_BYTES = 2 * 1024 * 1024;
/** Others have their turn after so long. */
const SLICE_MS = 40;
const PAGE = 1000;
/** What is looked at of each ranking. */
const CANDIDATES = 200;
/** Of reciprocal rank fusion: how much less the second place counts than the first. */
const DAMPING = 60;
/** Installed, not written here; a search finds them. */
const PASSED_OVER = /(^|\/)node_modules(\/|$)/;

export interface Hit extends StoredChunk {
  /** 1: first by every ranking. */
  score: number;
}

export interface Ranked {
  hits: Hit[];
  /** `semantic`: by vectors and words together. */
  method: 'semantic' | 'bm25';
  model: string | undefined;
  /** Why it was not `semantic`. */
  note: string | undefined;
  /** False: there was not time for all files; the rest is being read. */
  complete: boolean;
}

export interface Processed {
  /** False: there is neither a file nor a text. */
  found: boolean;
  chunks: number;
  /** Those that got their vectors now. */
  embedded: number;
  /** Why there are no vectors. */
  note: string | undefined;
}

/** Keeps the chunks of files as the files are, and ranks them. Lives in a thread of its own. */
export class Indexer {
  private background: Promise<void> | undefined;
  private closed = false;

  constructor(
    private readonly store: IndexStore,
    private readonly embedder: Embedder | undefined,
    private readonly budgetMs: number,
  ) {}

  /** Looks at all files first, so that what a command or another program did to them is known as well. */
  async search(scope: Scope, query: string, limit: number): Promise<Ranked> {
    const deadline = Date.now() + this.budgetMs;
    const isRead = await this.readAll(scope, deadline);
    const { note, isDone } = await this.embedAll(scope, deadline);
    const complete = isRead && isDone;
    if (!complete && note === undefined) this.goOn(scope);
    const condition = visible(scope);
    const rankings = [this.store.byWords(query, condition, CANDIDATES)];
    const vectors = note === undefined ? await this.byVectors(scope, query) : { reason: note };
    if ('ids' in vectors) rankings.push(vectors.ids);
    const hits = fused(rankings, limit).flatMap(({ id, score }) => {
      const chunk = this.store.chunk(id);
      return chunk && maySee(scope, chunk.path) ? [{ ...chunk, score }] : [];
    });
    return {
      hits,
      method: 'ids' in vectors ? 'semantic' : 'bm25',
      model: this.embedder?.name,
      note: 'ids' in vectors ? undefined : vectors.reason,
      complete,
    };
  }

  /** One file as it is now; with `content` as that says, where there is no file. */
  async process(scope: Scope, path: string, content: string | undefined): Promise<Processed> {
    this.read(scope.root, path);
    if (content !== undefined && !statsOf(scope.root, path))
      this.store.put(path, null, chunksOf(content.split(/\r?\n/)));
    const only = { sql: 'path = ?', parameters: [path] };
    const found = this.store.file(path) !== undefined;
    try {
      const { count } = await this.embed(only, Date.now() + this.budgetMs);
      return { found, chunks: this.store.count(path), embedded: count, note: undefined };
    } catch (error) {
      return { found, chunks: this.store.count(path), embedded: 0, note: this.notToBeHad(error) };
    }
  }

  /** Also what was given; a file that is still there is read again. */
  forget(scope: Scope, path: string): void {
    this.store.remove(path);
    this.read(scope.root, path);
  }

  /** Written, deleted or moved through the API: known before anybody asks. */
  changed(root: string, paths: readonly string[]): void {
    for (const path of paths) if (this.store.file(path)?.stamp !== null) this.read(root, path);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.background;
    this.store.close();
  }

  private async readAll(scope: Scope, deadline: number): Promise<boolean> {
    let pause = Date.now() + SLICE_MS;
    for (const { path, isFolder } of walk(scope)) {
      if (!isFolder) this.read(scope.root, path);
      const now = Date.now();
      if (now < pause) continue;
      if (this.closed || now > deadline) return false;
      await nextTurn();
      pause = Date.now() + SLICE_MS;
    }
    return this.dropGone(scope, deadline);
  }

  private async dropGone(scope: Scope, deadline: number): Promise<boolean> {
    const condition = visible(scope);
    for (let last = 0; ; ) {
      const page = this.store.filesAfter(last, condition, PAGE);
      for (const { path } of page) if (!statsOf(scope.root, path)) this.store.remove(path);
      last = page.at(-1)?.id ?? 0;
      if (page.length < PAGE) return true;
      if (this.closed || Date.now() > deadline) return false;
      await nextTurn();
    }
  }

  /** Reads the file if it is not the one that is known. */
  private read(root: string, path: string): void {
    const stats = statsOf(root, path);
    const known = this.store.file(path);
    if (!stats) {
      if (known && known.stamp !== null) this.store.remove(path);
      return;
    }
    if (known?.stamp === stampOf(stats) || PASSED_OVER.test(path)) return;
    const text = readText(root, path, MAX_BYTES);
    if (text) this.store.put(path, stampOf(text.stats), chunksOf(text.lines));
  }

  private async embedAll(scope: Scope, deadline: number): Promise<{ note?: string; isDone: boolean }> {
    if (!this.embedder) return { note: 'No vectors are configured (SEARCH_EMBEDDINGS).', isDone: true };
    try {
      return { isDone: (await this.embed(visible(scope), deadline)).isDone };
    } catch (error) {
      return { note: this.notToBeHad(error), isDone: false };
    }
  }

  private async embed(
    condition: ReturnType<typeof visible>,
    deadline: number,
  ): Promise<{ count: number; isDone: boolean }> {
    const { embedder, store } = this;
    let count = 0;
    while (embedder) {
      const some = store.without(embedder.name, condition, embedder.batch);
      if (some.length === 0) break;
      if (this.closed || Date.now() > deadline) return { count, isDone: false };
      const vectors = await embedder.embed(some.map(({ text }) => text));
      store.setVectors(
        embedder.name,
        some.flatMap(({ id }, at) => (vectors[at] ? [{ id, vector: vectors[at] }] : [])),
      );
      count += some.length;
      await nextTurn();
    }
    return { count, isDone: true };
  }

  private async byVectors(scope: Scope, query: string): Promise<{ ids: number[] } | { reason: string }> {
    const { embedder } = this;
    if (!embedder) return { reason: 'No vectors are configured (SEARCH_EMBEDDINGS).' };
    try {
      const [vector] = await embedder.embed([query]);
      return { ids: vector ? nearest(this.store, embedder.name, visible(scope), vector, CANDIDATES) : [] };
    } catch (error) {
      return { reason: this.notToBeHad(error) };
    }
  }

  private notToBeHad(error: unknown): string {
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
    return `The vectors of "${this.embedder?.name}" are not to be had: ${messageOf(error)}${cause}.`;
  }

  /** What a question had no time for. */
  private goOn(scope: Scope): void {
    const forever = Number.POSITIVE_INFINITY;
    this.background ??= (async () => {
      if (await this.readAll(scope, forever)) await this.embedAll(scope, forever);
      this.background = undefined;
    })();
  }
}

function statsOf(root: string, path: string): Stats | undefined {
  try {
    const stats = lstatSync(join(root, path), { throwIfNoEntry: false });
    return stats?.isFile() ? stats : undefined;
  } catch {
    // A part of the path is no folder any more.
    return undefined;
  }
}

/** The time of the last change of anything about it, which nobody can set. */
function stampOf({ size, ctimeMs, ino }: Stats): string {
  return `${size}-${ctimeMs}-${ino}`;
}

/** Reciprocal rank fusion; 1 is the first place in all rankings. */
function fused(rankings: readonly (readonly number[])[], limit: number): { id: number; score: number }[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings)
    for (const [place, id] of ranking.entries())
      scores.set(id, (scores.get(id) ?? 0) + (DAMPING + 1) / (DAMPING + 1 + place) / rankings.length);
  return [...scores]
    .map(([id, score]) => ({ id, score }))
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, limit);
}

export function fileType(path: string): string {
  return extname(path).slice(1).toLowerCase();
}
