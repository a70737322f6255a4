import type { Conversation, Entry, Run, RunState } from '@mcpbridge/shared/conversation.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';
import { type Backend, BrainFactory } from './brains/factory.js';
import type { Patience } from './brains/steady.js';
import { Missions } from './missions.js';
import type { Engine } from './run.js';
import { type ChatRequest, runOf } from './run-request.js';
import { Runs } from './runs.js';
import { AgentSessions, type Host } from './sessions.js';
import type { AgentSettings } from './settings.js';
import { type RunStep, stepsOf } from './steps.js';
import { Waker } from './waker.js';

/** Who asks, in which session, and whose conversations they see. */
export interface Asker {
  sessionId: string;
  principal: string;
  sees: 'session' | 'principal' | 'all';
}

export interface AssistantOptions extends Host {
  store: Engine['store'];
  settings: AgentSettings;
  patience?: Patience;
  /** A proposal whose run is over. */
  withdraw(proposal: string): Promise<unknown>;
  /** Hears why a run could not be taken up. */
  warn(message: string): void;
}

/** The bundled agent, as its tools, its routes and its command use it. */
export class Assistant {
  readonly missions: Missions;
  private readonly brains: BrainFactory;
  private readonly sessions: AgentSessions;
  private readonly runs: Runs;
  private readonly store: Engine['store'];
  private readonly waker: Waker;

  constructor(private readonly options: AssistantOptions) {
    const { store, settings, patience } = options;
    this.store = store;
    this.missions = new Missions(settings.missionsFolder);
    this.brains = new BrainFactory(settings);
    this.sessions = new AgentSessions(options);
    const engine = { store, brains: this.brains, sessions: this.sessions };
    this.runs = new Runs(patience ? { ...engine, patience } : engine);
    this.waker = new Waker(store, this.runs, (message) => options.warn(message));
  }

  backends(): Backend[] {
    return this.brains.backends();
  }

  /** Begins a run; it goes on whether anybody waits for it or not. */
  async chat(asker: Asker, request: ChatRequest): Promise<Run> {
    const { conversationId, message } = request;
    const known = conversationId === undefined ? undefined : await this.conversation(asker, conversationId);
    const before = known ? await this.newestOf(known, request.after) : {};
    const missionName = request.mission ?? known?.mission;
    const mission = missionName === undefined ? undefined : await this.missions.get(missionName);
    const id = timeOrderedId();
    const conversation: Conversation = known ?? {
      id: timeOrderedId(),
      sessionId: asker.sessionId,
      owner: asker.principal,
      title: titleOf(message),
      ...(missionName === undefined ? {} : { mission: missionName }),
      createdAt: Date.now(),
      updatedAt: Date.now(),
    };
    const planned = runOf(request, mission, this.brains);
    const run = { ...planned, id, conversationId: conversation.id };
    const agentSession = await this.sessionFor(conversation, run, request.allowedPrefixes !== undefined);
    await this.store.saveConversation({ ...conversation, agentSession, updatedAt: Date.now() });
    const whole = { ...run, ...before, agentSession };
    await this.store.saveRun(whole);
    void this.runs.start(whole);
    return whole;
  }

  /** Resolves when the run has ended or waits for a person. */
  async ended(run: Run): Promise<Run> {
    await this.runs.ended(run.id);
    return (await this.store.run(run.id)) ?? run;
  }

  /** What has happened and then what happens, until the run ends or waits, or the viewer is `gone`; `since`: only what came after that step. */
  async watch(
    asker: Asker,
    runId: string,
    since: number,
    tell: (step: RunStep) => void,
    gone?: AbortSignal,
  ): Promise<Run> {
    await this.waker.settled();
    const run = await this.run(asker, runId);
    let seen = since;
    let isCaughtUp = false;
    const early: RunStep[] = [];
    const one = (step: RunStep) => {
      if (step.at !== undefined && step.at <= seen) return;
      tell(step);
    };
    const stop = this.runs.listen(runId, (step) => (isCaughtUp ? one(step) : early.push(step)));
    try {
      for (const entry of await this.entriesUnder(run)) {
        for (const step of stepsOf(entry)) if ((step.at ?? 0) > since) tell(step);
        seen = entry.seq + 0.999;
      }
      isCaughtUp = true;
      for (const step of early) one(step);
      return await Promise.race([this.ended(run), ...(gone ? [whenGone(gone, run)] : [])]);
    } finally {
      stop();
    }
  }

  /** @throws NOT_FOUND for a stranger's as for a missing one */
  async run(asker: Asker, runId: string): Promise<Run> {
    const run = await this.store.run(runId);
    const conversation = run && (await this.store.conversation(run.conversationId));
    if (!run || !conversation || !isTheirs(asker, conversation))
      throw new AppError('NOT_FOUND', `There is no run "${runId}".`);
    return run;
  }

  /** In those states, the latest first. */
  async runsIn(asker: Asker, states: RunState[], limit: number): Promise<Run[]> {
    const theirs = new Set((await this.conversations(asker, 1000)).map(({ id }) => id));
    const runs = await this.store.runs({ states });
    const wanted = runs.filter(
      ({ parent, conversationId }) => parent === undefined && theirs.has(conversationId),
    );
    return wanted.reverse().slice(0, limit);
  }

  async runsOf(asker: Asker, conversationId: string): Promise<Run[]> {
    const { id } = await this.conversation(asker, conversationId);
    return (await this.store.runs({ conversationId: id })).filter(({ parent }) => parent === undefined);
  }

  async cancel(asker: Asker, runId: string): Promise<Run> {
    const run = await this.run(asker, runId);
    if (this.runs.cancel(runId, 'The run was cancelled.')) return this.ended(run);
    if (run.state !== 'waiting' && run.state !== 'running') return run;
    const error = { code: 'CALL_CANCELLED', message: 'The run was cancelled.' };
    await this.store.append(run.conversationId, run.id, { kind: 'error', ...error });
    const cancelled: Run = { ...run, state: 'cancelled', error, endedAt: Date.now() };
    await this.store.saveRun(cancelled);
    for (const proposal of run.proposals ?? []) await this.options.withdraw(proposal);
    return cancelled;
  }

  conversations({ sessionId, principal, sees }: Asker, limit: number): Promise<Conversation[]> {
    const whose = { all: {}, principal: { owner: principal }, session: { sessionId } };
    return this.store.conversations({ limit, ...whose[sees] });
  }

  /** @throws NOT_FOUND for a stranger's as for a missing one */
  async conversation(asker: Asker, id: string): Promise<Conversation> {
    const conversation = await this.store.conversation(id);
    if (conversation && isTheirs(asker, conversation)) return conversation;
    throw new AppError('NOT_FOUND', `There is no conversation "${id}".`);
  }

  async history(asker: Asker, conversationId: string): Promise<Entry[]> {
    const { id } = await this.conversation(asker, conversationId);
    return this.store.entries({ conversationId: id });
  }

  /** Takes up what an earlier process left. */
  resume(): Promise<void> {
    return this.waker.resume();
  }

  /** A call of that session was decided: whoever waits in it looks again. */
  wake(sessionId: string): Promise<void> {
    return this.waker.wake(sessionId);
  }

  /** Whose proposals in that session are: those of conversations of this asker alone, so that nobody answers their own. */
  async mayDecide(asker: Asker, agentSession: string): Promise<boolean> {
    for (const run of await this.store.runs({ states: ['waiting', 'running'] })) {
      if (run.agentSession !== agentSession) continue;
      const conversation = await this.store.conversation(run.conversationId);
      if (conversation && isTheirs(asker, conversation)) return true;
    }
    return false;
  }

  /** Runs that are at work are taken up at the next start; their calls may finish within the time. */
  async close(withinMs: number): Promise<void> {
    await this.runs.close(withinMs);
    this.sessions.close();
  }

  /** The conversation's own, so that what a tool remembers for a session lasts over its questions. */
  private async sessionFor(
    { agentSession, sessionId }: Conversation,
    run: Omit<Run, 'agentSession'>,
    isNarrower: boolean,
  ): Promise<string> {
    if (agentSession !== undefined && !isNarrower && (await this.isOpen(agentSession))) return agentSession;
    const { allowedPrefixes, approve, brains } = run;
    const [first = ''] = brains;
    const { window } = this.brains.make(first, run.brainOptions);
    const resultBytes = Math.min(200_000, Math.max(2000, Math.floor(window * 0.3)));
    return this.sessions.open(sessionId, { id: `agent-${run.id}`, allowedPrefixes, approve, resultBytes });
  }

  private isOpen(sessionId: string): Promise<boolean> {
    return this.options.tokenFor(sessionId).then(
      () => true,
      () => false,
    );
  }

  private async newestOf({ id }: Conversation, after?: number): Promise<{ after?: number }> {
    const runs = (await this.store.runs({ conversationId: id })).filter(({ parent }) => parent === undefined);
    const newest = runs.at(-1);
    if (newest && this.runs.isLive(newest.id) && after === undefined)
      throw new AppError(
        'CONFLICT',
        `Run "${newest.id}" of this conversation is still at work: wait for it or cancel it.`,
      );
    const entries = await this.store.entries({ conversationId: id });
    const at = after === undefined ? entries.findLast(({ runId }) => runId === newest?.id) : undefined;
    if (after !== undefined && !entries.some(({ seq }) => seq === after))
      throw new AppError('NOT_FOUND', `There is no entry ${after} in this conversation.`);
    const seq = after ?? at?.seq;
    return seq === undefined ? {} : { after: seq };
  }

  /** Of the run and of those that work for it, in their order. */
  private async entriesUnder(run: Run): Promise<Entry[]> {
    const entries = await this.store.entries({ conversationId: run.conversationId });
    return entries.filter(({ runId }) => runId === run.id || runId.startsWith(`${run.id}.`));
  }
}

function isTheirs({ sessionId, principal, sees }: Asker, conversation: Conversation): boolean {
  if (sees === 'session') return conversation.sessionId === sessionId;
  return sees === 'all' || conversation.owner === principal;
}

function titleOf(message: string): string {
  const [line = ''] = message.trim().split('\n');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function whenGone(gone: AbortSignal, run: Run): Promise<Run> {
  if (gone.aborted) return Promise.resolve(run);
  return new Promise((resolve) => gone.addEventListener('abort', () => resolve(run), { once: true }));
}
