import type { CallRow } from '@mcpbridge/shared/call-row.js';
import { isOver } from './call';
import type { CallStore } from './call-store';

/** Which call stands in which row of the list, the newest first. */
export interface Rows {
  readonly count: number;
  placeOf(index: number): number | undefined;
  indexOf(place: number): number;
  /** How many calls a row stands for. */
  sizeOf(index: number): number;
}

/** A row for each call. */
export function eachItsRow(first: number, top: number): Rows {
  return {
    count: Math.max(0, top - first + 1),
    placeOf: (index) => top - index,
    indexOf: (place) => top - place,
    sizeOf: () => 1,
  };
}

/** So many alike in a row are shown as one. */
const LEAST = 5;

/**
 * Which calls have a row. Calls that follow each other and are alike (session, tool, outcome) fold into the newest of
 * them. What is on screen of a held list does not change: then only what is newer folds.
 */
export class Folds implements Rows {
  /** Places with a row, the oldest first; each stands for itself and the places after the one before it. */
  private rows: number[] = [];
  private seen = { version: -1, first: 0 };

  constructor(private readonly store: CallStore) {}

  /** Rows of the calls up to `top`, the newest first. */
  settle(top: number, isHeld: boolean): void {
    const { version, first } = this.store;
    const newest = this.rows.at(-1);
    if (isHeld && newest !== undefined && newest <= top) this.keep(newest, top);
    else if (this.seen.version !== version || this.seen.first !== first || newest !== top)
      this.rows = rowsBetween(this.store, first, top);
    this.seen = { version, first };
  }

  /** What has a row keeps it; what was cut loses it, and older and newer calls get theirs. */
  private keep(newest: number, top: number): void {
    const { store, seen } = this;
    if (store.first > seen.first) this.rows = this.rows.filter((place) => place >= store.first);
    else if (store.first < seen.first)
      this.rows = [...rowsBetween(store, store.first, seen.first - 1), ...this.rows];
    if (newest < top) this.rows.push(...rowsBetween(store, newest + 1, top));
  }

  get count(): number {
    return this.rows.length;
  }

  placeOf(index: number): number | undefined {
    return this.rows[this.rows.length - 1 - index];
  }

  /** Of the row that stands for a place. */
  indexOf(place: number): number {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.rows[middle] as number) < place) low = middle + 1;
      else high = middle;
    }
    return this.rows.length - 1 - low;
  }

  sizeOf(index: number): number {
    const at = this.rows.length - 1 - index;
    return (this.rows[at] ?? 0) - (this.rows[at - 1] ?? this.seen.first - 1);
  }
}

function rowsBetween(store: CallStore, first: number, top: number): number[] {
  const rows: number[] = [];
  let run = 0;
  let before: CallRow | undefined;
  const close = (end: number) => {
    if (run >= LEAST) rows.push(end);
    else for (let place = end - run + 1; place <= end; place++) rows.push(place);
  };
  for (let place = first; place <= top; place++) {
    const call = store.at(place);
    if (before && call && !areAlike(before, call)) {
      close(place - 1);
      run = 0;
    }
    run++;
    before = call;
  }
  if (run > 0) close(top);
  return rows;
}

function areAlike(one: CallRow, other: CallRow): boolean {
  return (
    one.tool === other.tool &&
    one.session === other.session &&
    one.status === other.status &&
    one.server === other.server &&
    one.code === other.code &&
    isOver(one) &&
    one.parent === other.parent
  );
}
