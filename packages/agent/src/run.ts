import type { ConversationStore, Run } from '@mcpbridge/shared/conversation.js';
import { NO_USAGE } from './brains/brain.js';
import type { BrainFactory } from './brains/factory.js';
import type { Patience } from './brains/steady.js';
import type { LoopContext, LoopEnd } from './context.js';
import { delegateTool } from './delegate.js';
import { Journal } from './journal.js';
import { loop } from './loop.js';
import { Meter } from './meter.js';
import { STEP_RULES, systemPrompt } from './prompts.js';
import { failureTool, reportedFailure } from './report-failure.js';
import { toRunError } from './run-error.js';
import type { AgentSessions } from './sessions.js';
import { mark, type RunStep } from './steps.js';
import { plan, type StepEnd } from './strategies/plan.js';

/** What all runs share. */
export interface Engine {
  store: ConversationStore;
  brains: BrainFactory;
  sessions: AgentSessions;
  patience?: Patience;
  /** Aborted when this process ends: calls that run may finish, nothing new begins. */
  pausing: AbortSignal;
}

/** The one entry behind which the strategies are: carries a run out, or takes it up where it was; `given` is the meter of the run that it works for. */
export async function* carryOut(
  engine: Engine,
  run: Run,
  signal: AbortSignal,
  given?: Meter,
): AsyncGenerator<RunStep, LoopEnd> {
  const meter = given ?? (await Meter.open(engine.store, run));
  const journal = await Journal.open(engine.store, run, meter);
  if (journal.entries.length === 0) {
    const entry = await journal.append({ kind: 'user', text: run.message });
    yield mark(entry, { type: 'user', text: run.message });
  }
  const bridge = await engine.sessions.bridge(run);
  const context: LoopContext = {
    journal,
    brains: run.brains.map((name, index) => engine.brains.make(name, index === 0 ? run.brainOptions : {})),
    bridge,
    local: [],
    system: systemPrompt(run),
    limits: run.limits,
    meter,
    late: meter.late(run.limits.time),
    isParallel: run.strategy !== 'react',
    signal,
    pausing: engine.pausing,
    patience: engine.patience,
    output: run.output,
  };
  if (run.strategy === 'plan') return yield* plan(context, stepsOfPlan(engine, run, signal, meter));
  if (run.isStep) context.local = [failureTool];
  if (run.canDelegate) {
    const start = (child: Run, tell: (step: RunStep) => void) => within(engine, child, signal, meter, tell);
    context.local = [...context.local, delegateTool(run, start, engine)];
  }
  return yield* loop(context);
}

function stepsOfPlan(engine: Engine, run: Run, signal: AbortSignal, meter: Meter) {
  return async (
    step: { id: string; task: string },
    results: string,
    tell: (told: RunStep) => void,
  ): Promise<StepEnd> => {
    const { after, output, ...rest } = run;
    const child: Run = {
      ...rest,
      id: `${run.id}.${step.id}`,
      parent: run.id,
      strategy: 'parallel',
      because: 'it is a step of a plan',
      isStep: true,
      message: [
        `The whole question, for your understanding: ${run.message}`,
        results,
        `Your step: ${step.task}`,
      ]
        .filter(Boolean)
        .join('\n\n'),
      instructions: [run.instructions, STEP_RULES].filter(Boolean).join('\n\n'),
      startedAt: Date.now(),
      usage: NO_USAGE,
      state: 'running',
    };
    return within(engine, child, signal, meter, tell);
  };
}

/** A run that works for another one: what it did before counts, and its failure is a result. */
async function within(
  engine: Engine,
  fresh: Run,
  signal: AbortSignal,
  meter: Meter,
  tell: (step: RunStep) => void,
): Promise<StepEnd> {
  const { store } = engine;
  const run = (await store.run(fresh.id)) ?? fresh;
  if (run.state === 'done' || run.state === 'failed') return endOf(run);
  await store.saveRun({ ...run, state: 'running' });
  try {
    const steps = carryOut(engine, run, signal, meter);
    let next = await steps.next();
    for (; !next.done; next = await steps.next()) tell(next.value);
    const end = next.value;
    if (end.state === 'waiting') {
      await store.saveRun({ ...run, state: 'waiting', proposals: end.proposals });
      return { state: 'waiting', proposals: end.proposals };
    }
    const { text, stopped } = end;
    const journal = await Journal.open(store, run);
    const failure = reportedFailure(journal) ?? stopped;
    const ended: Run = {
      ...run,
      state: failure === undefined ? 'done' : 'failed',
      answer: text,
      ...(failure === undefined ? {} : { stopped: failure }),
      usage: journal.usage(),
      endedAt: Date.now(),
    };
    await store.saveRun(ended);
    return endOf(ended);
  } catch (thrown) {
    if (signal.aborted) throw signal.reason;
    if (engine.pausing.aborted) throw engine.pausing.reason;
    const error = toRunError(thrown);
    const ended: Run = { ...run, state: 'failed', error, endedAt: Date.now() };
    await store.saveRun(ended);
    return endOf(ended);
  }
}

function endOf(run: Run): StepEnd {
  const { id, state, answer = '', stopped, error, usage } = run;
  if (state === 'done') return { state, text: answer, run: id, usage };
  const text = [error?.message ?? stopped, answer].filter(Boolean).join('\n');
  return { state: 'failed', text, run: id, usage };
}
