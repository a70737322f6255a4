import type { CallDetails } from '@mcpbridge/shared/call-row.js';
import type { HouseEvent } from '@mcpbridge/shared/events.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import type { CallLog, CallWatcher } from '../store/call-log.js';
import type { WatchedRow } from '../store/scribe.js';
import { Follower, type FollowOptions, type Sink } from './follower.js';
import { type LiveCall, liveDetails, liveRow } from './live-call.js';
import { Ring } from './ring.js';

/** An event before it has a number. */
export type News = HouseEvent extends infer E ? (E extends HouseEvent ? Omit<E, 'seq'> : never) : never;

interface BusOptions {
  log: CallLog;
  /** The calls that run now. */
  running(): Iterable<LiveCall>;
  hide: Hide;
  /** Somebody watches, or nobody does any more. */
  onWatched(watched: boolean): void;
}

/** What starts is shown that late at most; what ends sooner is shown as ended alone. */
const SHOW_AFTER_MS = 20;
const LOSSES_EVERY_MS = 1000;

/**
 * Everything that happens, to whoever follows. While nobody does, nothing is kept and nothing is done: who comes later
 * reads stored calls. Numbers are given in the order in which events go out, so that who has seen one has seen all
 * before it.
 */
export class EventBus implements CallWatcher {
  private readonly ring = new Ring();
  private readonly followers = new Set<Follower>();
  private started: LiveCall[] = [];
  private news: News[] = [];
  private timer: NodeJS.Timeout | undefined;
  private lossTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: BusOptions) {}

  get head(): number {
    return this.options.log.numbers.latest;
  }

  get watchers(): number {
    return this.followers.size;
  }

  /** A call began, or began or ceased to wait for a person. */
  callChanged(call: LiveCall): void {
    this.started.push(call);
    this.soon();
  }

  tell(news: News): void {
    if (this.followers.size === 0) return;
    this.news.push(news);
    this.soon();
  }

  follow(sink: Sink, options: FollowOptions): Follower {
    const follower = new Follower(sink, options, {
      head: () => this.head,
      oldest: () => this.ring.oldest ?? this.head + 1,
      recent: (seq, limit) => this.ring.after(seq, limit),
      stored: (seq, upTo, limit) => this.options.log.queries.after(seq, upTo, limit),
      running: () => this.running(),
      leave: () => this.leave(follower),
    });
    this.followers.add(follower);
    if (this.followers.size === 1) {
      this.options.log.watcher = this;
      this.options.onWatched(true);
    }
    follower.begin();
    return follower;
  }

  /** Rows of the calls that run, as of now. */
  running(): WatchedRow[] {
    return [...this.options.running()].map((call) => liveRow(call, this.head, this.options.hide));
  }

  /** One that runs, with its arguments as far as they would be kept. */
  runningCall(id: string): CallDetails | undefined {
    for (const call of this.options.running())
      if (call.record.id === id) return liveDetails(call, this.head, this.options.hide);
    return undefined;
  }

  ended(rows: WatchedRow[]): void {
    for (const { row, kept } of rows) this.ring.push({ seq: row.seq, type: 'call', call: row }, kept);
    this.wake();
  }

  turn(): void {
    if (this.started.length + this.news.length === 0) return;
    const { log, hide } = this.options;
    for (const call of this.started.splice(0)) {
      // Its end is shown by its record; a parked one has none, and waits.
      if (call.over && !call.waiting) continue;
      const { row, kept } = liveRow(call, log.numbers.next(), hide);
      this.ring.push({ seq: row.seq, type: 'call', call: row }, kept);
    }
    for (const news of this.news.splice(0))
      this.ring.push({ seq: log.numbers.next(), ...news } as HouseEvent);
    this.wake();
  }

  lost(): void {
    this.lossTimer ??= setTimeout(() => {
      this.lossTimer = undefined;
      const { lost, waiting } = this.options.log;
      this.tell({ type: 'loss', lost, waiting });
    }, LOSSES_EVERY_MS).unref();
  }

  close(): void {
    clearTimeout(this.timer);
    clearTimeout(this.lossTimer);
    for (const follower of [...this.followers]) follower.end();
  }

  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // Else the log does it, between two batches.
      if (!this.options.log.isBusy) this.turn();
    }, SHOW_AFTER_MS).unref();
  }

  private wake(): void {
    for (const follower of this.followers) follower.wake();
  }

  private leave(follower: Follower): void {
    if (!this.followers.delete(follower) || this.followers.size > 0) return;
    this.options.log.watcher = undefined;
    this.options.onWatched(false);
    this.ring.clear();
    this.started = [];
    this.news = [];
  }
}
