/** The part of an AbortSignal that a call's road uses; a real one fits, too. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * An AbortController without its costs: Node's takes several microseconds a call to make and as much to collect.
 * A listener is heard at most once; one that comes after the abort is not heard, as with an AbortSignal.
 */
export class Cancel {
  private listeners: (() => void)[] = [];
  private isAborted = false;
  private cause: unknown;
  readonly signal: CancelSignal;

  constructor() {
    this.signal = new Signal(this);
  }

  get aborted(): boolean {
    return this.isAborted;
  }

  get reason(): unknown {
    return this.cause;
  }

  /** The first cause wins. */
  abort(reason?: unknown): void {
    if (this.isAborted) return;
    this.isAborted = true;
    this.cause = reason;
    const { listeners } = this;
    this.listeners = [];
    for (const listener of listeners) listener();
  }

  add(listener: () => void): void {
    if (!this.isAborted) this.listeners.push(listener);
  }

  remove(listener: () => void): void {
    const at = this.listeners.indexOf(listener);
    if (at !== -1) this.listeners.splice(at, 1);
  }
}

class Signal implements CancelSignal {
  constructor(private readonly cancel: Cancel) {}

  get aborted(): boolean {
    return this.cancel.aborted;
  }

  get reason(): unknown {
    return this.cancel.reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.cancel.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.cancel.remove(listener);
  }
}
