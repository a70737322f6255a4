import type { Entry } from '@mcpbridge/shared/conversation.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { LoopContext } from './context.js';
import type { Journal } from './journal.js';
import { answerFaults, askAgain } from './structured.js';

type Answer = Entry & { kind: 'answer' };

/** The final answer, on disk; undefined: something was said to the model about it, and the loop goes on. */
export async function conclude(
  { journal, output }: LoopContext,
  { text, isCut }: Entry & { kind: 'assistant' },
  limit: string | undefined,
): Promise<Answer | undefined> {
  const stopped = limit ?? (isCut ? 'the answer was too long for one' : undefined);
  if (text.trim() === '') {
    if (
      stopped === undefined &&
      !journal.entries.some((entry) => entry.kind === 'note' && entry.text === EMPTY)
    ) {
      await journal.append({ kind: 'note', text: EMPTY });
      return undefined;
    }
    return journal.append({
      kind: 'answer',
      text: whatIsKnown(journal),
      stopped: stopped ?? 'the model said nothing',
    });
  }
  const { faults, data } = answerFaults(text, output);
  if (faults.length > 0 && stopped === undefined) {
    const note = askAgain(faults, journal);
    if (note === undefined)
      throw new AppError('PROVIDER_ERROR', `The answer does not fit its schema: ${faults.join('; ')}.`);
    await journal.append({ kind: 'note', text: note });
    return undefined;
  }
  return journal.append({
    kind: 'answer',
    text,
    isSaid: true,
    ...(data === undefined || faults.length > 0 ? {} : { data }),
    ...(stopped === undefined ? {} : { stopped }),
  });
}

const EMPTY = 'You answered nothing. Give your answer, or use a tool.';

/** For a model that says nothing at its end: its newest words, and what the tools said last. */
function whatIsKnown(journal: Journal): string {
  const said = journal.entries.findLast((entry) => entry.kind === 'assistant' && entry.text.trim() !== '');
  const seen = journal.entries.findLast((entry) => entry.kind === 'result' && !entry.isError);
  const parts = [
    said?.kind === 'assistant' ? said.text : '',
    seen?.kind === 'result' ? `${seen.tool}: ${seen.text}` : '',
  ];
  return parts.filter(Boolean).join('\n\n') || 'Nothing was found out.';
}
