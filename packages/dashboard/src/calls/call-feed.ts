import type { CallDetails, CallRow } from '@mcpbridge/shared/call-row.js';
import type { HouseEvent } from '@mcpbridge/shared/events.js';
import { EventStream, type Hello } from '../net/event-stream';
import { onHouseEvent } from '../net/house-events';
import { messageOf, request } from '../net/request';
import { isOver } from './call';
import { CallStore } from './call-store';
import { callCount } from './counts';
import { type Range, rangeBounds } from './range';

const PAGE = 200;
/** After a gap so many missed calls are fetched without being asked. */
const MOST_MISSED = 2000;
/** Who is so many events behind goes on with the latest calls, instead of reading through all of them first. */
const FAR = 20_000;
const MOST_ASKED = 100;

export interface FeedState {
  isLoading: boolean;
  /** Why there are no calls, in a sentence. */
  error: string | undefined;
  /** Since when the stream is lost, and when it is tried again. */
  lostSince: number | undefined;
  retryAt: number | undefined;
  /** Calls in a gap that were not fetched. */
  missing: number;
  /** Records that the orchestrator could not keep. */
  lost: number;
  /** By how much the orchestrator's clock is ahead of ours. */
  clockAhead: number;
}

interface CallPage {
  calls: CallRow[];
  /** Those that run, with the first page alone. */
  running?: CallRow[];
  next?: string;
}

/** The calls of one filter and range: the latest page, what happens from now on, and older pages when they are asked for. */
export class CallFeed {
  readonly store = new CallStore();
  readonly state: FeedState = {
    isLoading: true,
    error: undefined,
    lostSince: undefined,
    retryAt: undefined,
    missing: 0,
    lost: 0,
    clockAhead: 0,
  };
  private readonly stream: EventStream;
  private readonly stopNews: () => void;
  private last: number | undefined;
  private isFar = false;
  private next: string | undefined;
  private early: CallRow[] | undefined = [];
  private isFetching = false;

  constructor(
    readonly query: string,
    readonly range: Range,
  ) {
    this.stream = new EventStream({
      query,
      types: ['call'],
      restsWhileHidden: true,
      since: () => (this.isFar ? undefined : this.last),
      onHello: (hello) => this.greet(hello),
      onEvents: (events, seq, head) => this.receive(events, seq, head),
      onState: ({ isUp, retryAt }) =>
        this.show(
          isUp
            ? { lostSince: undefined, retryAt: undefined }
            : { lostSince: this.state.lostSince ?? Date.now(), retryAt },
        ),
    });
    this.stopNews = onHouseEvent((event) => {
      if (event.type === 'loss') this.show({ lost: event.lost });
    });
    void this.loadFirst();
  }

  get isLive(): boolean {
    return this.range.kind === 'live';
  }

  close(): void {
    this.stopNews();
    this.stream.close();
  }

  retry(): void {
    this.show({ error: undefined, isLoading: this.store.size === 0 });
    this.stream.now();
    if (this.store.size === 0) void this.loadFirst();
  }

  /** Anew from the latest call on, so that scrolling leads through every gap. */
  readonly reload = (): void => {
    this.store.clear();
    this.early = [];
    this.show({ error: undefined, isLoading: true, missing: 0 });
    void this.loadFirst();
  };

  /** One more page at the end, unless one is on its way or the log has no more. */
  readonly loadOlder = (): void => {
    if (this.isFetching || this.next === undefined) return;
    this.isFetching = true;
    void this.page(this.next)
      .then((page) => this.putOlder(page))
      .catch((error) => this.show({ error: messageOf(error) }))
      .finally(() => {
        this.isFetching = false;
      });
  };

  private async loadFirst(): Promise<void> {
    try {
      const page = await this.page();
      const early = this.early ?? [];
      this.early = undefined;
      const { running = [] } = page;
      this.putOlder({ ...page, calls: [...page.calls, ...running].sort((a, b) => (a.id < b.id ? 1 : -1)) });
      for (const call of early) this.store.put(call);
      this.show({ isLoading: false, error: undefined });
    } catch (error) {
      this.show({ isLoading: false, error: messageOf(error) });
    }
  }

  private page(before?: string): Promise<CallPage> {
    const wanted = new URLSearchParams({ limit: String(PAGE), ...rangeBounds(this.range) });
    if (this.query !== '') wanted.set('q', this.query);
    if (before !== undefined) wanted.set('before', before);
    return request<CallPage>(`/api/calls?${wanted}`);
  }

  private putOlder({ calls, next }: CallPage): void {
    this.store.putBefore([...calls].reverse());
    this.next = next;
    this.store.isWhole = this.next === undefined;
    this.store.touch();
  }

  private greet(hello: Hello): void {
    const isGap = this.last !== undefined && hello.seq > this.last;
    this.last = hello.seq;
    this.isFar = false;
    this.show({ clockAhead: hello.now - Date.now(), lost: hello.lost });
    if (!this.isLive) return;
    for (const call of hello.running) this.take(call);
    this.askAfter(hello.running);
    if (isGap) void this.fetchMissed();
  }

  private receive(events: readonly HouseEvent[], seq: number, head: number): void {
    if (head - seq > FAR) {
      this.isFar = true;
      this.stream.again();
      return;
    }
    this.last = seq;
    for (const event of events) {
      if (event.type === 'missed') void this.fetchMissed();
      else if (event.type === 'call' && (this.isLive || this.store.get(event.call.id))) this.take(event.call);
    }
  }

  /** Calls that ran when the stream was left and do not now: one that ended out of the filter is told by nobody. */
  private askAfter(running: readonly CallRow[]): void {
    const ids = new Set(running.map(({ id }) => id));
    const left: CallRow[] = [];
    for (const call of this.store.fromNewest()) if (!isOver(call) && !ids.has(call.id)) left.push(call);
    for (const { id } of left.slice(0, MOST_ASKED))
      request<CallDetails>(`/api/calls/${encodeURIComponent(id)}`)
        // Lists hold no payloads.
        .then(({ arguments: _, result: __, ...row }) => this.take(row))
        .catch(() => undefined); // Gone from the log: its row says the last that is known.
  }

  private take(call: CallRow): void {
    if (this.early) this.early.push(call);
    else this.store.put(call);
  }

  /** There are events that we did not see: the calls among them are in the log. */
  private async fetchMissed(): Promise<void> {
    if (!this.isLive) return;
    const known = this.store.at(this.store.newest);
    const newest = known?.id ?? '';
    this.early ??= [];
    const missed: CallRow[] = [];
    let before: string | undefined;
    try {
      do {
        const page = await this.page(before);
        const fresh = page.calls.filter(({ id }) => id > newest || this.store.get(id) !== undefined);
        missed.push(...fresh);
        before = fresh.length === page.calls.length && page.next !== undefined ? page.next : undefined;
      } while (before !== undefined && missed.length < MOST_MISSED);
      const oldest = missed.at(-1);
      if (before !== undefined && known && oldest)
        this.show({ missing: this.state.missing + (await this.countBetween(known.at, oldest.at)) });
    } catch (error) {
      this.show({ error: messageOf(error) });
    }
    for (const call of missed.reverse()) this.store.put(call);
    const early = this.early ?? [];
    this.early = undefined;
    for (const call of early) this.store.put(call);
  }

  /** At least one: that there are some is known. */
  private async countBetween(from: number, to: number): Promise<number> {
    return Math.max(1, await callCount(this.query, { kind: 'between', from: from + 1, to }));
  }

  private show(change: Partial<FeedState>): void {
    Object.assign(this.state, change);
    this.store.touch();
  }
}
