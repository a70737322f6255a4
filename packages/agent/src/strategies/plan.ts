import type { Entry, PlanStep, Usage } from '@mcpbridge/shared/conversation.js';
import { addUsage, NO_USAGE } from '../brains/brain.js';
import { type LoopContext, type LoopEnd, offered } from '../context.js';
import { type Journal, told } from '../journal.js';
import { reachedLimit } from '../limits.js';
import { merged } from '../merged.js';
import { messagesOf } from '../messages.js';
import { PLANNER, SYNTHESIS } from '../prompts.js';
import { mark, type RunStep } from '../steps.js';
import { answerFaults, formOfAnswer } from '../structured.js';
import { ask, askInTime } from '../think.js';
import { readPlan } from './plan-text.js';

/** The first one and those that are made when a step failed. */
const PLANS = 4;
const AT_ONCE = 4;

export type StepEnd =
  | { state: 'done' | 'failed'; text: string; run: string; usage: Usage }
  | { state: 'waiting'; proposals: string[] };

/** Carries out one step as a run of its own, or takes it up where it was; never rejects but when it was aborted. */
export type CarryOutStep = (
  step: PlanStep,
  results: string,
  tell: (step: RunStep) => void,
) => Promise<StepEnd>;

type Plan = Entry & { kind: 'plan' };
type Done = Entry & { kind: 'step' };

/** A plan, its steps in their order or at once, another plan when a step fails, and one answer from all results. */
export async function* plan(context: LoopContext, carryOut: CarryOutStep): AsyncGenerator<RunStep, LoopEnd> {
  const { journal, meter, limits, signal, pausing } = context;
  for (;;) {
    signal.throwIfAborted();
    pausing.throwIfAborted();
    const ended = journal.answer();
    if (ended) return { state: 'done', ...ended };
    const plans = journal.entries.filter((entry): entry is Plan => entry.kind === 'plan');
    const newest = plans.at(-1);
    const done = journal.entries.filter((entry): entry is Done => entry.kind === 'step');
    const failed = newest && done.find(({ step, ok }) => !ok && newest.steps.some(({ id }) => id === step));
    const limit = reachedLimit(journal, meter, limits);
    const isOver = newest?.steps.every(({ id }) => done.some(({ step }) => step === id));
    if (limit !== undefined || (failed && plans.length >= PLANS)) {
      yield* synthesise(context, done, limit ?? `a step failed in each of ${PLANS} plans`);
    } else if (!newest || failed) {
      yield* makePlan(context, plans.length + 1, done, failed);
    } else if (isOver) {
      yield* synthesise(context, done, undefined);
    } else {
      const waiting = yield* carryOutReady(context, newest, done, carryOut);
      if (waiting.length > 0) return { state: 'waiting', proposals: waiting };
    }
  }
}

async function* makePlan(
  context: LoopContext,
  version: number,
  done: readonly Done[],
  failed: Done | undefined,
): AsyncGenerator<RunStep, void> {
  const { journal, system } = context;
  const tools = (await offered(context)).map(
    ({ name, description }) => `- ${name}: ${description.split('\n')[0]}`,
  );
  const because = failed && `step ${failed.step} failed: ${failed.text}`;
  const parts = [`Tools:\n${tools.join('\n')}`, resultsOf(done), because && `Plan anew: ${because}`, PLANNER];
  const question = parts.filter(Boolean).join('\n\n');
  const messages = [...messagesOf(journal.all), { role: 'user' as const, text: question }];
  let usage = NO_USAGE;
  for (let attempt = 1; ; attempt += 1) {
    const answered = yield* askInTime(context, { system, messages, tools: [], calling: 'none' });
    if (!answered) return;
    const { reply, brain } = answered;
    usage = addUsage(usage, reply.usage);
    const read = readPlan(reply.text, version);
    if (read.faults.length > 0 && attempt === 1) {
      messages.push({ role: 'assistant', text: reply.text || '(nothing)', calls: [] });
      messages.push({
        role: 'user',
        text: `That plan cannot be used: ${read.faults.join('; ')}. ${PLANNER}`,
      });
      continue;
    }
    // Who cannot write a plan may still do the work.
    const whole = [{ id: `${version}.1`, task: questionOf(journal), after: [] }];
    const steps = read.faults.length > 0 ? whole : read.steps;
    const content = { steps, usage, brain: brain.name, ...(because ? { because } : {}) };
    const entry = await journal.append({ kind: 'plan', ...content });
    yield mark(entry, { type: 'usage', usage, brain: brain.name });
    yield mark(entry, { type: 'plan', steps, ...(because ? { because } : {}) });
    return;
  }
}

/** All steps whose results are there, at once; ends when none of them runs any more. */
async function* carryOutReady(
  { journal }: LoopContext,
  { steps }: Plan,
  done: readonly Done[],
  carryOut: CarryOutStep,
): AsyncGenerator<RunStep, string[]> {
  const isDone = (id: string) => done.some(({ step }) => step === id);
  const ready = steps.filter(({ id, after }) => !isDone(id) && after.every(isDone));
  const waiting: string[] = [];
  const tasks = ready.map((step) => async (tell: (told: RunStep) => void) => {
    const isNeeded = (other: Done) =>
      step.after.includes(other.step) || !steps.some(({ id }) => id === other.step);
    const end = await carryOut(step, resultsOf(done.filter((other) => other.ok && isNeeded(other))), tell);
    if (end.state === 'waiting') {
      waiting.push(...end.proposals);
      return;
    }
    const { text, run, usage } = end;
    const ok = end.state === 'done';
    const entry = await journal.append({ kind: 'step', step: step.id, run, ok, text, usage });
    tell(mark(entry, { type: 'step', step: step.id, ok, text }));
  });
  yield* merged(tasks, AT_ONCE);
  return waiting;
}

async function* synthesise(
  context: LoopContext,
  done: readonly Done[],
  stopped: string | undefined,
): AsyncGenerator<RunStep, void> {
  const { journal, system, output } = context;
  const parts = [resultsOf(done), stopped && `The work was stopped: ${stopped}.`, SYNTHESIS];
  const text = [...parts, output && formOfAnswer(output)].filter(Boolean).join('\n\n');
  const messages = [...messagesOf(journal.all), { role: 'user' as const, text }];
  const { reply, brain } = yield* ask(context, { system, messages, tools: [], calling: 'none' });
  const { faults, data } = answerFaults(reply.text, output);
  const why =
    stopped ?? (faults.length > 0 ? `the answer does not fit its schema: ${faults.join('; ')}` : undefined);
  const answer = told({
    text: reply.text.trim() || resultsOf(done),
    ...(faults.length > 0 ? {} : { data }),
    ...(why === undefined ? {} : { stopped: why }),
  });
  const entry = await journal.append({ kind: 'answer', ...answer, usage: reply.usage });
  yield mark(entry, { type: 'usage', usage: reply.usage, brain: brain.name });
  yield mark(entry, { type: 'final_answer', ...answer });
}

function resultsOf(done: readonly Done[]): string {
  if (done.length === 0) return '';
  const lines = done.map(({ step, ok, text }) => `Step ${step} ${ok ? 'gave' : 'FAILED'}: ${text}`);
  return `Results of the steps so far:\n${lines.join('\n')}`;
}

function questionOf(journal: Journal): string {
  return journal.run.message;
}
