import { AppError } from '@mcpbridge/shared/errors.js';
import { type Placed, Underway } from '@mcpbridge/shared/underway.js';
import type { LiveCall } from '../events/live-call.js';
import type { Session } from '../sessions/session.js';
import type { CallRecord } from '../store/call-log.js';
import type { CallRequest } from './call-request.js';

/** A call between its arrival and its record. */
export interface RunningCall extends LiveCall, Placed {
  request: CallRequest;
}

/** The calls that run now: who watches, counts, cancels and waits for them asks here. */
export class RunningCalls {
  /** Hears of calls that begin, or begin or cease to wait for a person; set while somebody watches. */
  watcher: ((call: LiveCall) => void) | undefined;
  private readonly calls = new Underway<RunningCall>();
  private whenIdle: (() => void) | undefined;

  get count(): number {
    return this.calls.size;
  }

  begin(request: CallRequest, record: CallRecord): RunningCall {
    const call: RunningCall = { record, request, waiting: false, over: false, place: 0 };
    this.calls.add(call);
    this.watcher?.(call);
    return call;
  }

  /** It begins or ceases to wait for a person. */
  setWaiting(call: RunningCall, waiting: boolean): void {
    call.waiting = waiting;
    this.watcher?.(call);
  }

  end(call: RunningCall): void {
    call.over = true;
    this.calls.delete(call);
    if (this.calls.size === 0) this.whenIdle?.();
  }

  /** The first to come first. */
  list(): Iterable<LiveCall> {
    return [...this.calls].sort((a, b) => a.record.durationMs - b.record.durationMs);
  }

  /** False when it does not run. */
  cancel(id: string, by: string): boolean {
    const call = this.calls.find(({ record }) => record.id === id);
    call?.request.abort.abort(new AppError('CALL_CANCELLED', `The call was cancelled by ${by}.`));
    return call !== undefined;
  }

  /** Cancels what a session still runs. */
  cancelSession(session: Session): void {
    for (const { request } of this.calls) {
      if (request.session === session)
        request.abort.abort(new AppError('CALL_CANCELLED', 'The session was ended.'));
    }
  }

  /** Resolves when no call runs any more, or after `ms`. */
  async drained(ms: number): Promise<void> {
    if (this.calls.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.whenIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
