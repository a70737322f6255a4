import { randomBytes } from 'node:crypto';
import { Cancel, type CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject, RPC, RpcFailure, type RpcMessage } from '@mcpbridge/shared/json-rpc.js';
import type { Answer } from './answer.js';

/** Our `requestState`s; those of a modern upstream are passed through and never begin so. */
const PREFIX = 'mcpbridge.';
/** A question that nobody answers for so long cancels its request. */
const PATIENCE_MS = 10 * 60_000;

/** A client that asks the same anew so long after it was sent for answers has begun again; two such calls at once are two. */
const BEGUN_AGAIN_MS = 1000;
/** Requests of one session that wait; of more the oldest is given up. */
const MAX_WAITING = 100;

/** What comes while a client is away for its answers; of more the oldest is forgotten. */
const KEPT_MESSAGES = 1000;
/** Characters of JSON. */
const KEPT_LENGTH = 1024 * 1024;

interface Question {
  method: string;
  params: JsonObject | undefined;
  resolve(answer: unknown): void;
  withdraw(): void;
}

/**
 * A request of a modern client to a server that asks in mid-call, as legacy ones do: the server waits, the client gets
 * `input_required` and comes again with its answers and our `requestState`.
 */
export class RoundTrip {
  readonly abort = new Cancel();
  /** Of the exchange that is open now. */
  private answer: Answer | undefined;
  private outcome: Promise<unknown> | undefined;
  private readonly questions = new Map<string, Question>();
  /** Progress and log lines, oldest first. */
  private readonly kept: { message: RpcMessage; length: number }[] = [];
  private keptLength = 0;
  private asked = 0;
  private wake: () => void = () => undefined;

  constructor(
    /** Who asked for what: nobody else can go on with it, nor with anything else. */
    readonly binding: string,
    readonly sessionId: string,
  ) {}

  /** Between two exchanges it is kept for the next one. */
  send(message: RpcMessage): void {
    if (this.answer) this.answer.send(message);
    else this.keep(message);
  }

  readonly ask = (method: string, params: JsonObject | undefined, signal: CancelSignal): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const key = `q${++this.asked}`;
      const withdraw = () => {
        this.questions.delete(key);
        reject(new AppError('CALL_CANCELLED', `The question ${method} was withdrawn.`));
      };
      this.questions.set(key, { method, params, resolve, withdraw });
      signal.addEventListener('abort', withdraw, { once: true });
      // It may be another call's question, which whoever asked can put through that one.
      this.abort.signal.addEventListener('abort', withdraw, { once: true });
      this.wake();
    });

  /** Carries one exchange: to the result, or to the questions that are open. */
  async carry(answer: Answer, run: () => Promise<unknown>): Promise<unknown> {
    this.answer = answer;
    for (const { message } of this.kept.splice(0)) answer.send(message);
    this.keptLength = 0;
    this.outcome ??= run().catch((error) => {
      for (const question of this.questions.values()) question.withdraw();
      throw error;
    });
    if (this.questions.size === 0) {
      const asked = new Promise<typeof ASKED>((resolve) => {
        this.wake = () => setImmediate(resolve, ASKED);
      });
      const first = await Promise.race([this.outcome, asked]);
      // A question that came with the result is answered before the result is told.
      if (first !== ASKED && this.questions.size === 0) return first;
    }
    this.answer = undefined;
    // Its failure is told to the exchange that is open then.
    this.outcome.catch(() => undefined);
    return undefined;
  }

  /** What the client answered; questions that it left out stay open. */
  take(responses: unknown): void {
    if (!isObject(responses)) return;
    for (const [key, answer] of Object.entries(responses)) {
      this.questions.get(key)?.resolve(answer);
      this.questions.delete(key);
    }
  }

  private keep(message: RpcMessage): void {
    const { length } = JSON.stringify(message);
    this.kept.push({ message, length });
    this.keptLength += length;
    while (this.kept.length > KEPT_MESSAGES || this.keptLength > KEPT_LENGTH) {
      this.keptLength -= this.kept.shift()?.length ?? 0;
    }
  }

  get inputRequests(): JsonObject {
    const open = [...this.questions].map(([key, { method, params }]) => [
      key,
      params ? { method, params } : { method },
    ]);
    return Object.fromEntries(open);
  }
}

const ASKED = Symbol('asked');

interface Waiting {
  trip: RoundTrip;
  since: number;
  timer: NodeJS.Timeout;
}

/** The requests that wait for their clients to come again. */
export class RoundTrips {
  private readonly waiting = new Map<string, Waiting>();

  /** The one that this request goes on with, or a new one. @throws RpcFailure when the state is not its own. */
  enter(binding: string, sessionId: string, { requestState, inputResponses }: JsonObject): RoundTrip {
    if (typeof requestState !== 'string' || !requestState.startsWith(PREFIX)) {
      this.giveUp(
        ({ trip, since }) => trip.binding === binding && performance.now() - since > BEGUN_AGAIN_MS,
        'The client began again.',
      );
      return new RoundTrip(binding, sessionId);
    }
    const found = this.waiting.get(requestState);
    if (!found || found.trip.binding !== binding) {
      throw new RpcFailure(
        RPC.invalidParams,
        'The requestState is not of this request, or has expired: call again without it.',
      );
    }
    this.waiting.delete(requestState);
    clearTimeout(found.timer);
    found.trip.take(inputResponses);
    return found.trip;
  }

  /** The result that sends the client for answers. */
  suspend(trip: RoundTrip): JsonObject {
    const requestState = PREFIX + randomBytes(32).toString('base64url');
    const { sessionId } = trip;
    const others = [...this.waiting.values()].filter((other) => other.trip.sessionId === sessionId);
    if (others.length >= MAX_WAITING)
      this.giveUp((one) => one === others[0], `More than ${MAX_WAITING} requests wait for answers.`);
    const giveUp = () =>
      this.giveUp((one) => one.trip === trip, 'The client did not come back with its answers.');
    const timer = setTimeout(giveUp, PATIENCE_MS).unref();
    this.waiting.set(requestState, { trip, since: performance.now(), timer });
    return { resultType: 'input_required', inputRequests: trip.inputRequests, requestState };
  }

  endSession(sessionId: string): void {
    this.giveUp(({ trip }) => trip.sessionId === sessionId, 'The session ended.');
  }

  close(): void {
    this.giveUp(() => true, 'The orchestrator is ending.');
  }

  private giveUp(fits: (waiting: Waiting) => boolean, reason: string): void {
    for (const [state, waiting] of this.waiting) {
      if (!fits(waiting)) continue;
      this.waiting.delete(state);
      clearTimeout(waiting.timer);
      waiting.trip.abort.abort(new AppError('CALL_CANCELLED', reason));
    }
  }
}
