import type { Entry } from '@mcpbridge/shared/conversation.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Brain, BrainRequest, Reply } from './brains/brain.js';
import { BrainFailure } from './brains/failure.js';
import { askSteadily } from './brains/steady.js';
import { type LoopContext, offered } from './context.js';
import { messagesOf } from './messages.js';
import type { RunStep } from './steps.js';
import { fitted } from './window.js';

/** Where a provider still says that it is too long, half as much is tried, then a quarter. */
const SHARES = [1, 0.5, 0.25];

/** One answer of the model, on disk when this is done; undefined: the time of the run was over first. */
export async function* think(
  context: LoopContext,
  calling: BrainRequest['calling'],
): AsyncGenerator<RunStep, (Entry & { kind: 'assistant' }) | undefined> {
  const { journal, system } = context;
  const tools = await offered(context);
  const messages = messagesOf(journal.all);
  const request = { system, messages, tools, calling };
  // The last answer is given after the time, too.
  const answered = yield* calling === 'none' ? ask(context, request) : askInTime(context, request);
  if (!answered) return undefined;
  const { reply, brain } = answered;
  const { text, thinking, calls, usage, isCut, raw } = reply;
  return journal.append({
    kind: 'assistant',
    text,
    // Whoever was told to call nothing and does so all the same is not heard.
    calls: calling === 'none' ? [] : calls,
    usage,
    brain: brain.name,
    ...(thinking ? { thinking } : {}),
    ...(isCut ? { isCut } : {}),
    ...(raw === undefined || calling === 'none' ? {} : { raw }),
  });
}

type Asking = Pick<LoopContext, 'brains' | 'signal' | 'pausing' | 'patience' | 'journal'>;
type Answered = { reply: Reply; brain: Brain };

/** The same until the time of the run is over; then what was begun is taken back. */
export async function* askInTime(
  context: Asking & Pick<LoopContext, 'late'>,
  request: BrainRequest,
): AsyncGenerator<RunStep, Answered | undefined> {
  const { late, signal, pausing, journal, brains } = context;
  try {
    return yield* ask({ ...context, signal: AbortSignal.any([signal, late]) }, request);
  } catch (thrown) {
    if (!late.aborted || signal.aborted || pausing.aborted) throw thrown;
    const brain = brains[0]?.name ?? '';
    yield { type: 'retry', reason: 'The time of the run is over.', inMs: 0, brain, run: journal.run.id };
    return undefined;
  }
}

/** Asks for one answer about anything, shortened to what the brain takes. */
export async function* ask(context: Asking, request: BrainRequest): AsyncGenerator<RunStep, Answered> {
  const { brains, patience, journal } = context;
  // An answer that is not finished is asked for again.
  const signal = AbortSignal.any([context.signal, context.pausing]);
  const window = Math.min(...brains.map((brain) => brain.window));
  for (const [index, share] of SHARES.entries()) {
    const messages = fitted(request, window * share);
    try {
      for await (const event of askSteadily(brains, { ...request, messages }, signal, patience)) {
        if (event.type === 'reply') return event;
        yield { ...event, run: journal.run.id };
      }
    } catch (thrown) {
      const isTooLong = thrown instanceof BrainFailure && thrown.kind === 'too_long';
      if (!isTooLong || index === SHARES.length - 1) throw thrown;
    }
  }
  throw new AppError('INTERNAL', 'A brain ended without an answer.');
}
