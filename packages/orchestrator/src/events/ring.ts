import type { KeptTexts } from '@mcpbridge/shared/call-filter-match.js';
import type { HouseEvent } from '@mcpbridge/shared/events.js';

/** One event as it waits for those who follow: written as JSON once for all of them. */
export interface RingEntry {
  event: HouseEvent;
  text: string;
  kept?: KeptTexts;
}

const MAX_ENTRIES = 5000;

/** The latest events in the order of their numbers; older ones are the store's. */
export class Ring {
  private entries: RingEntry[] = [];
  /** Entries at the front that have left; taken away many at a time. */
  private left = 0;

  push(event: HouseEvent, kept?: KeptTexts): void {
    this.entries.push({ event, text: JSON.stringify(event), ...(kept ? { kept } : {}) });
    if (this.entries.length - this.left > MAX_ENTRIES) this.left += 1;
    if (this.left < MAX_ENTRIES) return;
    this.entries = this.entries.slice(this.left);
    this.left = 0;
  }

  /** Its number; undefined when there is none. */
  get oldest(): number | undefined {
    return this.entries[this.left]?.event.seq;
  }

  clear(): void {
    this.entries = [];
    this.left = 0;
  }

  /** Those after a number, at most so many. */
  after(seq: number, limit: number): RingEntry[] {
    let [low, high] = [this.left, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle]?.event.seq ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return this.entries.slice(low, low + limit);
  }
}
