import { AppError } from '@mcpbridge/shared/errors.js';
import type { Log } from '../../../log.js';
import type { Health, ToolList } from '../../provider.js';
import type { Connection } from '../connection/connection.js';
import type { Failure } from './breaker.js';
import { Comeback } from './comeback.js';
import { Trouble } from './trouble.js';

/** What is known of its tools. */
interface Tools {
  readonly common: ToolList | undefined;
  /** Why the last reading failed. */
  readonly failure: string | undefined;
}

/** How one server is doing: whether it takes calls, what went wrong with it, and when it is tried again by itself. */
export class Condition {
  private refusal: AppError | undefined;
  private isStopped = false;
  /** Why nobody is signed in for all of its users any more. */
  private signInReason: string | undefined;
  private readonly trouble = new Trouble();
  private readonly comeback: Comeback;

  /** `attempt` rejects when it failed, and then has told `refreshFailed`. */
  constructor(
    private readonly server: string,
    private readonly log: Log,
    attempt: () => Promise<unknown>,
  ) {
    this.comeback = new Comeback(attempt);
  }

  get takesCalls(): boolean {
    return this.refusal === undefined;
  }

  refuseIfEnded(): void {
    if (this.refusal) throw this.refusal;
  }

  /** `unreachable`: of its latest connects. */
  health(unreachable: Failure | undefined, tools: Tools): Health {
    if (this.isStopped) return { state: 'stopped' };
    if (unreachable) return { state: 'failed', ...unreachable };
    const next = this.comeback.at === undefined ? {} : { retryAt: this.comeback.at };
    if (this.signInReason !== undefined) return { state: 'failed', reason: this.signInReason };
    if (tools.failure !== undefined) return { state: 'failed', reason: tools.failure, ...next };
    if (!tools.common) return { state: 'starting' };
    const { reason } = this.trouble;
    return reason === undefined ? { state: 'ready' } : { state: 'degraded', reason, ...next };
  }

  answered(): void {
    this.trouble.over();
  }

  signInNeeded(reason: string): void {
    this.signInReason = reason;
  }

  signedIn(): void {
    this.signInReason = undefined;
  }

  /** A connection broke, or stopped answering. The one that hears of changed tools is opened again without being asked for. */
  lost({ routing, announcesTools, openedAt }: Connection, reason: string): void {
    this.log.warn(reason);
    this.trouble.note(reason);
    if (routing.caller || this.refusal || !announcesTools) return;
    this.comeback.plan({ livedMs: performance.now() - openedAt });
  }

  /** What nobody's patience mends waits for somebody's hand. */
  refreshFailed(error: unknown, notBefore: number | undefined): void {
    const mayPass = !(error instanceof AppError) || error.retryable;
    if (mayPass && !this.refusal) this.comeback.plan({ notBefore });
  }

  stop(): void {
    this.isStopped = true;
    this.end(`Server "${this.server}" is stopped.`, { retryable: false });
  }

  /** Another configuration takes its place. */
  retire(): void {
    this.end(
      `Server "${this.server}" was changed in the configuration while the call was on its way; call again.`,
    );
  }

  /** Whatever failed before. */
  start(): void {
    this.isStopped = false;
    this.refusal = undefined;
    this.trouble.forget();
    this.signInReason = undefined;
    this.comeback.forget();
  }

  private end(sentence: string, more?: { retryable: boolean }): void {
    this.refusal = new AppError('PROVIDER_UNAVAILABLE', sentence, more);
    this.comeback.forget();
  }
}
