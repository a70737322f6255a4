import type { CallFilter } from '@mcpbridge/shared/call-filter.js';
import { matchesCall } from '@mcpbridge/shared/call-filter-match.js';
import type { CallRow } from '@mcpbridge/shared/call-row.js';
import type { HouseEvent } from '@mcpbridge/shared/events.js';
import type { WatchedRow } from '../store/scribe.js';
import type { RingEntry } from './ring.js';

/** Where the events of one watcher go. */
export interface Sink {
  /** `running`: the calls that run now and fit the filter. */
  hello(seq: number, running: CallRow[]): void;
  /** Events, each as JSON too; `place`: what was looked at so far; `head`: the number of the house's latest event. */
  send(events: readonly { event: HouseEvent; text: string }[], place: number, head: number): void;
  /** False while the other end has not taken what was sent; then `wake` is called when it has. */
  readonly isReady: boolean;
  close(): void;
}

export interface FollowOptions {
  filter: CallFilter;
  /** The last event that was seen; absent: only what comes from now on. */
  since?: number | undefined;
  /** Only events of these types. */
  types?: ReadonlySet<string> | undefined;
}

interface House {
  head(): number;
  /** The number of the oldest event that `recent` has; else the next one to come. */
  oldest(): number;
  recent(seq: number, limit: number): RingEntry[];
  stored(seq: number, upTo: number, limit: number): Promise<WatchedRow[]>;
  running(): WatchedRow[];
  leave(): void;
}

/** Events of one message, and of one question to the store. */
const AT_ONCE = 500;
/** That often a watcher whose filter fits nothing hears how far the house is. */
const HEAD_EVERY_MS = 5000;

/**
 * One watcher and its place. Nothing is queued for it: it takes events from its place on when the other end is ready,
 * from memory or, when it is far behind, from the store. So a slow one costs no memory and loses nothing but its place.
 */
export class Follower {
  private place: number;
  private busy = false;
  private isOver = false;
  /** Running calls that it was shown: it hears of their end whatever its filter says of that. */
  private readonly shown = new Set<string>();
  private saidHeadAt = Date.now();
  private readonly beat = setInterval(() => this.sayHead(), HEAD_EVERY_MS).unref();

  constructor(
    private readonly sink: Sink,
    private readonly options: FollowOptions,
    private readonly house: House,
  ) {
    this.place = Math.min(options.since ?? house.head(), house.head());
  }

  begin(): void {
    this.sink.hello(this.place, this.running());
    this.wake();
  }

  /** There are new events, or the other end is ready again. */
  wake(): void {
    if (this.busy || this.isOver || !this.sink.isReady || this.place >= this.house.head()) return;
    this.busy = true;
    this.advance()
      .catch(() => this.failed())
      .finally(() => {
        this.busy = false;
        if (this.hasNext()) this.wake();
      });
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearInterval(this.beat);
    this.house.leave();
    this.sink.close();
  }

  private hasNext(): boolean {
    return !this.isOver && this.sink.isReady && this.house.recent(this.place, 1).length > 0;
  }

  private async advance(): Promise<void> {
    while (!this.isOver && this.sink.isReady) {
      if (this.place < this.house.oldest() - 1) await this.catchUp();
      const entries = this.house.recent(this.place, AT_ONCE);
      const last = entries.at(-1);
      if (!last) return;
      if (this.place < this.house.oldest() - 1) continue;
      this.place = last.event.seq;
      this.send(entries);
    }
  }

  private async catchUp(): Promise<void> {
    // Nothing but calls is stored.
    if (this.wantsCalls) await this.fromStore();
    else this.place = this.house.oldest() - 1;
  }

  /** Up to where memory begins; the calls that run now are told once more, since their starts are not stored. */
  private async fromStore(): Promise<void> {
    const upTo = this.house.oldest() - 1;
    const rows = await this.house.stored(this.place, upTo, AT_ONCE);
    const isAll = rows.length < AT_ONCE;
    this.place = isAll ? upTo : (rows.at(-1)?.row.seq ?? upTo);
    const found = isAll ? [...rows, ...this.house.running()] : rows;
    this.send(
      found.map(({ row, kept }) => {
        const event: HouseEvent = { seq: Math.min(row.seq, this.place), type: 'call', call: row };
        return { event, text: JSON.stringify(event), kept };
      }),
    );
  }

  private send(entries: RingEntry[]): void {
    const fitting = entries.filter((entry) => this.fits(entry));
    if (fitting.length === 0 || this.isOver) return;
    this.saidHeadAt = Date.now();
    this.sink.send(fitting, this.place, this.house.head());
  }

  private fits({ event, kept }: RingEntry): boolean {
    const { types, filter } = this.options;
    if (types && !types.has(event.type)) return false;
    if (event.type !== 'call') return true;
    const { call } = event;
    const isFitting = matchesCall(filter, call, kept);
    const isLive = call.status === 'running' || call.status === 'waiting';
    if (isLive && isFitting) this.shown.add(call.id);
    return isFitting || (isLive ? this.shown.has(call.id) : this.shown.delete(call.id));
  }

  private get wantsCalls(): boolean {
    return this.options.types?.has('call') ?? true;
  }

  private running(): CallRow[] {
    const { filter } = this.options;
    if (!this.wantsCalls) return [];
    const rows = this.house.running().filter(({ row, kept }) => matchesCall(filter, row, kept));
    for (const { row } of rows) this.shown.add(row.id);
    return rows.map(({ row }) => row);
  }

  /** What the store cannot give is said with its numbers. */
  private failed(): void {
    const from = this.place + 1;
    this.place = this.house.oldest() - 1;
    const event: HouseEvent = { seq: this.place, type: 'missed', from, to: this.place };
    if (!this.isOver) this.sink.send([{ event, text: JSON.stringify(event) }], this.place, this.house.head());
  }

  private sayHead(): void {
    if (this.busy || !this.sink.isReady || Date.now() - this.saidHeadAt < HEAD_EVERY_MS) return;
    this.saidHeadAt = Date.now();
    this.sink.send([], this.place, this.house.head());
  }
}
