import { Allowance } from './allowance.js';

/** Of how many things the latest news is held back at once. */
const MAX_HELD = 1000;

/**
 * Messages in the order in which they came, thinned when there are more than so many a second: of those with the same
 * key the latest is held back until there is room again, those without a key are dropped.
 */
export class Flow<T> {
  private readonly allowance: Allowance;
  private readonly held = new Map<string, T>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    perSecond: number,
    private readonly deliver: (item: T) => void,
    /** Told of each that is not delivered at once. */
    private readonly onOver: () => void,
  ) {
    this.allowance = new Allowance(perSecond);
  }

  push(item: T, bytes: number | undefined, key?: string): void {
    if (this.allowance.allows(bytes)) {
      if (this.held.size > 0) this.release(key);
      this.deliver(item);
      return;
    }
    this.onOver();
    if (key !== undefined) this.hold(key, item);
  }

  /** What is held back, now; nothing more is to come. */
  finish(): void {
    if (this.held.size > 0) this.release();
  }

  /** Forgets what is held back. */
  stop(): void {
    clearTimeout(this.timer);
    this.held.clear();
  }

  private hold(key: string, item: T): void {
    // The latest goes last, as it came.
    this.held.delete(key);
    if (this.held.size < MAX_HELD) this.held.set(key, item);
    this.timer ??= setTimeout(() => this.release(), this.allowance.renewsIn).unref();
  }

  /** `newer`: the key of what is just being delivered. */
  private release(newer?: string): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (newer !== undefined) this.held.delete(newer);
    const items = [...this.held.values()];
    this.held.clear();
    for (const item of items) this.deliver(item);
  }
}
