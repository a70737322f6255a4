import type { Run } from '@mcpbridge/shared/conversation.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { LoopEnd } from './context.js';
import { Journal } from './journal.js';
import { carryOut, type Engine } from './run.js';
import { toRunError } from './run-error.js';
import { mark, type RunStep } from './steps.js';

type Listener = (step: RunStep) => void;

interface Live {
  abort: AbortController;
  listeners: Set<Listener>;
  /** Pieces of the answer that is just being written, for who comes late. */
  unfinished: RunStep[];
  /** Somebody decided while it was at work: where it then waits, it looks once more. */
  looksAgain: boolean;
  done: Promise<Run>;
}

/** The runs that are carried out in this process; those that wait for a person are none of them. */
export class Runs {
  private readonly live = new Map<string, Live>();
  private readonly pause = new AbortController();
  private readonly engine: Engine;

  constructor(engine: Omit<Engine, 'pausing'>) {
    this.engine = { ...engine, pausing: this.pause.signal };
  }

  /** Carries it out, or takes it up where it was; one that is being carried out goes on, and looks again where it waits. */
  start(run: Run): Promise<Run> {
    const known = this.live.get(run.id);
    if (known) {
      known.looksAgain = true;
      return known.done;
    }
    const live: Live = {
      abort: new AbortController(),
      listeners: new Set(),
      unfinished: [],
      looksAgain: false,
      done: Promise.resolve(run),
    };
    this.live.set(run.id, live);
    live.done = this.untilItWaits(run, live);
    // Who waits for it hears of it; nobody has to.
    live.done.catch(() => undefined);
    return live.done;
  }

  isLive(runId: string): boolean {
    return this.live.has(runId);
  }

  /** Resolves when it has ended or waits; undefined: it is not carried out here. */
  ended(runId: string): Promise<Run> | undefined {
    return this.live.get(runId)?.done;
  }

  /** Tells the pieces of an unfinished answer at once, then every step; answers how to stop listening. */
  listen(runId: string, listener: Listener): () => void {
    const live = this.live.get(runId);
    if (!live) return () => {};
    for (const step of live.unfinished) listener(step);
    live.listeners.add(listener);
    return () => live.listeners.delete(listener);
  }

  /** False: it is not carried out here. */
  cancel(runId: string, why: string): boolean {
    const live = this.live.get(runId);
    live?.abort.abort(new AppError('CALL_CANCELLED', why));
    return live !== undefined;
  }

  /** Leaves all of them where they are, to be taken up at the next start; calls that run may finish within the time. */
  async close(withinMs: number): Promise<void> {
    const ends = new AppError('SHUTTING_DOWN', 'The orchestrator ends.');
    this.pause.abort(ends);
    const all = [...this.live.values()];
    const late = setTimeout(() => {
      for (const { abort } of all) abort.abort(ends);
    }, withinMs);
    await Promise.all(all.map(({ done }) => done.catch(() => undefined)));
    clearTimeout(late);
  }

  private async untilItWaits(run: Run, live: Live): Promise<Run> {
    try {
      for (let now = run; ; ) {
        live.looksAgain = false;
        now = await this.carry(now, live);
        if (now.state !== 'waiting' || !live.looksAgain) return now;
      }
    } finally {
      // In the same turn as the last look at it, so that no wish to look again is lost.
      this.live.delete(run.id);
    }
  }

  private async carry(run: Run, live: Live): Promise<Run> {
    const { store } = this.engine;
    const running = withoutWaiting({ ...run, state: 'running' });
    await store.saveRun(running);
    try {
      const steps = carryOut(this.engine, running, live.abort.signal);
      let next = await steps.next();
      for (; !next.done; next = await steps.next()) tell(live, next.value);
      return await this.save(await ended(this.engine, running, next.value));
    } catch (thrown) {
      const { signal } = live.abort;
      if (this.pause.signal.aborted) return running;
      const error = toRunError(signal.aborted ? signal.reason : thrown);
      const journal = await Journal.open(store, running);
      const entry = await journal.append({ kind: 'error', ...error });
      tell(live, mark(entry, { type: 'error', ...error }));
      const state = signal.aborted ? 'cancelled' : 'failed';
      return this.save({ ...running, state, error, usage: journal.usage(), endedAt: Date.now() });
    }
  }

  private async save(run: Run): Promise<Run> {
    await this.engine.store.saveRun(run);
    return run;
  }
}

async function ended(engine: Engine, run: Run, end: LoopEnd): Promise<Run> {
  const usage = (await Journal.open(engine.store, run)).usage();
  if (end.state === 'waiting') return { ...run, state: 'waiting', proposals: end.proposals, usage };
  const { text, data, stopped } = end;
  return {
    ...run,
    state: 'done',
    answer: text,
    ...(data === undefined ? {} : { data }),
    ...(stopped === undefined ? {} : { stopped }),
    usage,
    endedAt: Date.now(),
  };
}

function tell(live: Live, step: RunStep): void {
  // What lasts takes the place of its pieces.
  if (step.at !== undefined || step.type === 'retry')
    live.unfinished = live.unfinished.filter(({ run }) => run !== step.run);
  else live.unfinished.push(step);
  for (const listener of live.listeners) {
    try {
      listener(step);
    } catch (error) {
      // A viewer that fails must not stop what it looks at.
      live.listeners.delete(listener);
      void messageOf(error);
    }
  }
}

function withoutWaiting({ proposals, ...run }: Run): Run {
  return run;
}
