import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import type { Origin } from '../peer/origin.js';
import type { Peer } from '../peer/peer.js';

export interface Asking {
  call: Origin;
  /** No other call that runs could ask it. */
  isSure: boolean;
}

/** The longest that a question waits for it to become clear which call asks it. */
const UNCLEAR_MS = 1000;

/**
 * Through which of a session's calls a question goes that came with none of them. Over stdio nothing says to which it belongs, and a client of the modern
 * era hears it as the answer to one of its calls. So a question waits a moment for calls that ask nothing to end; as soon as
 * there are as many questions as calls that have none, each call gets one, in their order.
 */
export class AskingCalls {
  /** Those through which a question is open. */
  private readonly busy = new Set<Origin>();
  /** Questions that wait, in the order in which they came. */
  private readonly unclear: object[] = [];
  private readonly wakes = new Set<() => void>();

  constructor(
    private readonly peer: Peer,
    private readonly sessionId: string,
  ) {
    peer.onAnswered = () => this.look();
  }

  /** Undefined when no call runs that can be asked. At once where it is clear: a question may be taken back right after it. */
  take(signal: CancelSignal): Asking | undefined | Promise<Asking | undefined> {
    const question = {};
    this.unclear.push(question);
    this.look();
    if (this.isClear()) return this.choose(question);
    return this.clear(signal).then(() => {
      if (!signal.aborted) return this.choose(question);
      this.unclear.splice(this.unclear.indexOf(question), 1);
      this.look();
      return undefined;
    });
  }

  private choose(question: object): Asking | undefined {
    const at = this.unclear.indexOf(question);
    const free = this.free();
    const isSure = free.length === 1 && this.unclear.length === 1;
    // All have one already where a call asks for several things at once.
    const call = free.at(at - this.unclear.length) ?? this.askable().at(-1);
    this.unclear.splice(at, 1);
    if (!call) return undefined;
    this.busy.add(call);
    return { call, isSure };
  }

  give({ call }: Asking): void {
    this.busy.delete(call);
    this.look();
  }

  private clear(signal: CancelSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.wakes.delete(wake);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const wake = () => {
        if (this.isClear()) end();
      };
      const timer = setTimeout(end, UNCLEAR_MS);
      this.wakes.add(wake);
      signal.addEventListener('abort', end);
    });
  }

  private look(): void {
    for (const wake of [...this.wakes]) wake();
  }

  /** A legacy client is asked as a client, whichever of its calls leads to it. */
  private isClear(): boolean {
    const free = this.free();
    return free.length <= this.unclear.length || free.some(({ listener }) => !listener?.terms);
  }

  private free(): Origin[] {
    return this.askable().filter((call) => !this.busy.has(call));
  }

  private askable(): Origin[] {
    return this.peer
      .running()
      .filter(({ caller, listener }) => listener?.ask && caller.sessionId === this.sessionId);
  }
}
