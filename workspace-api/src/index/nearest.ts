import type { IndexStore } from './index-store.js';
import { cosine, type Packed } from './vectors.js';
import type { Condition } from './visible.js';

const PAGE = 4000;

/** The chunks whose vectors are nearest, best first: all are compared, which takes a millisecond for ten thousand. */
export function nearest(
  store: IndexStore,
  model: string,
  condition: Condition,
  vector: Packed,
  limit: number,
): number[] {
  let best: { id: number; score: number }[] = [];
  let least = 0;
  for (let last = 0; ; ) {
    const page = store.vectorsAfter(last, model, condition, PAGE);
    for (const one of page) {
      const score = cosine(vector, one.vector);
      if (score > least) best.push({ id: one.id, score });
    }
    best = best.sort((a, b) => b.score - a.score || a.id - b.id).slice(0, limit);
    if (best.length === limit) least = best.at(-1)?.score ?? 0;
    last = page.at(-1)?.id ?? 0;
    if (page.length < PAGE) return best.map(({ id }) => id);
  }
}
