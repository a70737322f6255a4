import type { Entry } from '@mcpbridge/shared/conversation.js';
import { callIdOf } from './steps.js';

/** After so many equal calls with equal results the next one is not made. */
const SAME = 3;
/** After so many calls that were not made the run ends with what is known. */
const PATIENCE = 2;

export const CIRCLE = 'CIRCLE';

/** Whether a run goes round in circles: the same calls with the same results, again and again. */
export function isCircle(entries: readonly Entry[], tool: string, args: unknown): boolean {
  const wanted = `${tool} ${canonical(args)}`;
  const calls = new Map<string, string>();
  const times = new Map<string, number>();
  for (const entry of entries) {
    if (entry.kind === 'assistant') {
      for (const [index, call] of entry.calls.entries())
        if ('arguments' in call)
          calls.set(callIdOf(entry, index), `${call.tool} ${canonical(call.arguments)}`);
    } else if (entry.kind === 'result' && entry.code !== CIRCLE && calls.get(entry.callId) === wanted) {
      times.set(entry.text, (times.get(entry.text) ?? 0) + 1);
    }
  }
  return Math.max(0, ...times.values()) >= SAME;
}

export function isStuck(entries: readonly Entry[]): boolean {
  return entries.filter((entry) => entry.kind === 'result' && entry.code === CIRCLE).length >= PATIENCE;
}

/** The same for objects whose members stand in another order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
