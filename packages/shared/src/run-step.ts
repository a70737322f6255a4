import type { PlanStep, Usage } from './conversation.js';
import type { JsonObject } from './json-rpc.js';

/** What happens in a run, as it happens. */
export type Step =
  /** Pieces of what the model thinks and says; a `retry` takes back those of its unfinished answer. */
  | { type: 'thinking'; text: string }
  | { type: 'text'; text: string }
  | { type: 'retry'; reason: string; inMs: number; brain: string }
  | { type: 'user'; text: string }
  | { type: 'usage'; usage: Usage; brain: string }
  | { type: 'tool_call'; id: string; tool: string; arguments: JsonObject }
  | {
      type: 'tool_result';
      id: string;
      tool: string;
      text: string;
      isError: boolean;
      code?: string;
      durationMs: number;
      /** What its images are, which are in the record of the call. */
      pictures?: string[];
    }
  | {
      type: 'proposal';
      id: string;
      proposal: string;
      tool: string;
      arguments: JsonObject;
      expiresAt: string;
    }
  | { type: 'plan'; steps: PlanStep[]; because?: string }
  | { type: 'step'; step: string; ok: boolean; text: string }
  | { type: 'final_answer'; text: string; data?: unknown; stopped?: string }
  | { type: 'error'; code: string; message: string };

/**
 * A step of a run or of one that works for it. `at` grows with every step that lasts: the number of its entry, and after the
 * point its place in it. Pieces have none.
 */
export type RunStep = Step & { run: string; at?: number };
