import type { Limits } from '@mcpbridge/shared/conversation.js';
import type { Journal } from './journal.js';
import type { Meter } from './meter.js';

export const DEFAULT_LIMITS: Limits = { iterations: 40, time: 30 * 60_000 };

/** The sentence that says which limit is reached; undefined: none. Steps are the run's own, all else is of the whole. */
export function reachedLimit(journal: Journal, meter: Meter, limits: Limits): string | undefined {
  const { iterations, time, tokens, cost } = limits;
  const usage = meter.used;
  const made = journal.iterations();
  const used = usage.inputTokens + usage.outputTokens;
  if (made >= iterations) return `the limit of ${iterations} steps is reached`;
  if (meter.late(time).aborted) return `the time limit of ${short(time / 1000)} s is reached`;
  if (tokens !== undefined && used >= tokens) return `the limit of ${tokens} tokens is reached`;
  if (cost !== undefined && (usage.cost ?? 0) >= cost)
    return `the limit of $${cost} is reached ($${short(usage.cost ?? 0)} were spent)`;
  return undefined;
}

/** Three significant digits: a cent is much for one answer. */
function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
