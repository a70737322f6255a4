import { setTimeout as sleep } from 'node:timers/promises';
import type { Brain, BrainEvent, BrainRequest, Reply } from './brain.js';
import { BrainFailure } from './failure.js';

export interface Patience {
  /** How often one brain is asked the same. */
  attempts: number;
  /** Before the second attempt; doubled before each further one. */
  firstWaitMs: number;
}

export const PATIENCE: Patience = { attempts: 4, firstWaitMs: 500 };
const LONGEST_WAIT_MS = 30_000;

export type SteadyEvent =
  | Exclude<BrainEvent, { type: 'reply' }>
  | { type: 'retry'; reason: string; inMs: number; brain: string }
  | { type: 'reply'; reply: Reply; brain: Brain };

/**
 * The one owner of retries: throttling, overload and broken connections are waited out with growing pauses, or as long as
 * the provider wishes; then the next brain is asked. What was told of an unfinished answer is taken back by a `retry`.
 */
export async function* askSteadily(
  brains: readonly Brain[],
  request: BrainRequest,
  signal: AbortSignal,
  patience: Patience = PATIENCE,
): AsyncGenerator<SteadyEvent> {
  const failures: BrainFailure[] = [];
  for (const [index, brain] of brains.entries()) {
    for (let attempt = 1; ; attempt += 1) {
      try {
        for await (const event of brain.ask(request, signal)) {
          if (event.type === 'reply') yield { ...event, brain };
          else yield event;
        }
        return;
      } catch (thrown) {
        if (signal.aborted || !(thrown instanceof BrainFailure)) throw thrown;
        // The same is too long for every attempt; the caller shortens it.
        if (thrown.kind === 'too_long') throw thrown;
        failures.push(thrown);
        const next = brains[index + 1];
        const isLast = !thrown.isPassing || attempt >= patience.attempts;
        if (isLast && !next) throw failures.length === 1 ? thrown : allFailed(failures);
        const inMs = isLast ? 0 : waitOf(thrown, attempt, patience);
        yield { type: 'retry', reason: thrown.message, inMs, brain: isLast && next ? next.name : brain.name };
        await sleep(inMs, undefined, { signal }).catch(() => {
          throw signal.reason;
        });
        if (isLast) break;
      }
    }
  }
}

/** With a random part, so that many who were refused together do not come back together. */
function waitOf({ retryAfterMs }: BrainFailure, attempt: number, { firstWaitMs }: Patience): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, 2 * LONGEST_WAIT_MS);
  const wait = firstWaitMs * 2 ** (attempt - 1);
  return Math.round(Math.min(wait, LONGEST_WAIT_MS) * (0.75 + Math.random() / 2));
}

function allFailed(failures: BrainFailure[]): BrainFailure {
  const last = failures.at(-1);
  const sentences = [...new Set(failures.map(({ message }) => message))];
  return new BrainFailure(last?.kind ?? 'server', sentences.join(' '), undefined, { cause: last });
}
