import type { Entry } from '@mcpbridge/shared/conversation.js';
import { act } from './act.js';
import { isStuck } from './circles.js';
import { conclude } from './conclude.js';
import type { LoopContext, LoopEnd } from './context.js';
import { type Journal, told } from './journal.js';
import { reachedLimit } from './limits.js';
import { acted, mark, type RunStep } from './steps.js';
import { think } from './think.js';

/**
 * Reason, act, observe, until an answer or a limit. Everything is written to the journal before it is acted on, and where
 * the loop stands follows from the journal: taken up again after whatever end, it goes on where it was.
 */
export async function* loop(context: LoopContext): AsyncGenerator<RunStep, LoopEnd> {
  const { journal, isParallel, signal, pausing } = context;
  for (;;) {
    signal.throwIfAborted();
    pausing.throwIfAborted();
    const ended = journal.answer();
    if (ended) return { state: 'done', ...ended };
    const said = newestWord(journal);
    if (said) {
      const answer = await conclude(context, said, lastNote(journal)?.last);
      if (!answer) continue;
      yield mark(answer, { type: 'final_answer', ...told(answer) });
      continue;
    }
    const open = journal.openCalls();
    if (open.length > 0) {
      const proposals = yield* act(context, open);
      if (proposals.length > 0) return { state: 'waiting', proposals };
      continue;
    }
    const isLast = lastNote(journal) !== undefined;
    const limit = isLast ? undefined : limitOf(context);
    if (limit !== undefined) {
      await journal.append({ kind: 'note', text: lastWords(limit), last: limit });
      continue;
    }
    const entry = yield* think(context, isLast ? 'none' : isParallel ? 'many' : 'one');
    if (!entry) continue;
    for (const step of acted(entry)) yield mark(entry, step);
  }
}

function limitOf({ journal, meter, limits }: LoopContext): string | undefined {
  if (isStuck(journal.entries)) return 'the same calls were made again and again with the same results';
  return reachedLimit(journal, meter, limits);
}

function lastWords(limit: string): string {
  return `Stop here: ${limit}. Use no more tools. Answer now with what is known so far, and say what is missing or was not done.`;
}

/** The newest answer when it asks for nothing and nothing was said after it. */
function newestWord(journal: Journal): (Entry & { kind: 'assistant' }) | undefined {
  const newest = journal.entries.at(-1);
  return newest?.kind === 'assistant' && newest.calls.length === 0 ? newest : undefined;
}

/** The note by which the model was told that this is the end. */
function lastNote(journal: Journal): (Entry & { kind: 'note' }) | undefined {
  const found = journal.entries.findLast((entry) => entry.kind === 'note' && entry.last !== undefined);
  return found?.kind === 'note' ? found : undefined;
}
