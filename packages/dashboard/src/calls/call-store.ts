import type { CallRow as Call } from '@mcpbridge/shared/call-row.js';
import { Painter } from './painter';

/** So many calls the page holds; above, the oldest go, a fifth at a time. */
const MOST = 120_000;
const CUT = 20_000;

/**
 * The calls of one filter, outside React: one array in the order of arrival, and where each one stands in it. A call's
 * place is its number of arrival, which stays the same while newer ones come and the oldest go.
 */
export class CallStore {
  /** Number of arrival of the first one in the array. */
  first = 0;
  /** Grows with every change that is to be seen. */
  version = 0;
  /** True when the log has nothing older. */
  isWhole = false;
  /** How the list stood when its view was left. */
  left: { scrollTop: number; top: number; active: number | undefined } | undefined;
  private calls: Call[] = [];
  private readonly places = new Map<string, number>();
  private readonly listeners = new Set<() => void>();
  private readonly painter = new Painter(() => this.tell());

  get size(): number {
    return this.calls.length;
  }

  /** Number of arrival of the newest one; below `first` when there is none. */
  get newest(): number {
    return this.first + this.calls.length - 1;
  }

  get oldest(): Call | undefined {
    return this.calls[0];
  }

  at(place: number): Call | undefined {
    return this.calls[place - this.first];
  }

  placeOf(id: string): number | undefined {
    return this.places.get(id);
  }

  get(id: string): Call | undefined {
    const place = this.places.get(id);
    return place === undefined ? undefined : this.at(place);
  }

  /** Newest first, as long as `fits` says so. */
  *fromNewest(): Generator<Call> {
    for (let index = this.calls.length - 1; index >= 0; index--) {
      const call = this.calls[index];
      if (call) yield call;
    }
  }

  /** A new one joins at the end; one that is known changes in its place. */
  put(call: Call): void {
    const place = this.places.get(call.id);
    if (place !== undefined) {
      if ((this.at(place)?.seq ?? 0) >= call.seq) return;
      this.calls[place - this.first] = call;
    } else {
      this.places.set(call.id, this.newest + 1);
      this.calls.push(call);
      if (this.calls.length > MOST) this.cut();
    }
    this.version++;
    this.painter.changed();
  }

  /** Older ones, oldest first, before all that are here. */
  putBefore(older: readonly Call[]): void {
    const strange = older.filter(({ id }) => !this.places.has(id));
    this.first -= strange.length;
    strange.forEach((call, index) => {
      this.places.set(call.id, this.first + index);
    });
    this.calls = [...strange, ...this.calls];
    this.version++;
    this.painter.changed();
  }

  remove(id: string): void {
    // Rare (a call that has left the filter): everything newer moves by one, as it must.
    const place = this.places.get(id);
    if (place === undefined) return;
    this.calls.splice(place - this.first, 1);
    this.places.delete(id);
    for (let index = place - this.first; index < this.calls.length; index++)
      this.places.set((this.calls[index] as Call).id, this.first + index);
    this.version++;
    this.painter.changed();
  }

  clear(): void {
    this.calls = [];
    this.places.clear();
    this.first = 0;
    this.isWhole = false;
    this.version++;
    this.tell();
  }

  /** What is not a call has changed, too: the state of the stream, a count. */
  touch(): void {
    this.version++;
    this.painter.changed();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private painted = 0;
  /** For React: another number whenever it shall look again. */
  readonly snapshot = (): number => this.painted;

  private tell(): void {
    this.painted = this.version;
    for (const listener of this.listeners) listener();
  }

  private cut(): void {
    for (const { id } of this.calls.slice(0, CUT)) this.places.delete(id);
    this.calls = this.calls.slice(CUT);
    this.first += CUT;
    this.isWhole = false;
  }
}
