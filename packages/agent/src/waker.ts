import type { ConversationStore, Run } from '@mcpbridge/shared/conversation.js';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { Runs } from './runs.js';

/** Takes runs up again: after the end of a process, and when somebody has decided what they wait for. */
export class Waker {
  /** Those that are just finding their runs. */
  private readonly waking = new Set<Promise<void>>();

  constructor(
    private readonly store: ConversationStore,
    private readonly runs: Runs,
    /** Hears why a run could not be taken up. */
    private readonly warn: (message: string) => void,
  ) {}

  /** All that an earlier process left; those that wait look whether they still have to. */
  resume(): Promise<void> {
    return this.note(this.takeUp(() => true));
  }

  /** A call of that session was decided. */
  wake(sessionId: string): Promise<void> {
    return this.note(this.takeUp((run) => run.agentSession === sessionId));
  }

  /** Resolves when nobody is just being woken: who has answered a proposal wants to see what comes of it. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.waking);
  }

  private async note(waking: Promise<void>): Promise<void> {
    this.waking.add(waking);
    await waking.finally(() => this.waking.delete(waking));
  }

  /** The runs at the top of those that fit; what works for them is theirs to take up. */
  private async takeUp(fits: (run: Run) => boolean): Promise<void> {
    const tops = new Map<string, Run>();
    for (const run of await this.store.runs({ states: ['waiting', 'running'] })) {
      if (!fits(run)) continue;
      const top = await this.topOf(run);
      if (top.state === 'waiting' || top.state === 'running') tops.set(top.id, top);
    }
    for (const top of tops.values()) {
      this.runs
        .start(top)
        .catch((error) =>
          this.warn(`The run "${top.id}" of the agent could not be taken up: ${messageOf(error)}`),
        );
    }
  }

  private async topOf(run: Run): Promise<Run> {
    const parent = run.parent === undefined ? undefined : await this.store.run(run.parent);
    return parent ? this.topOf(parent) : run;
  }
}
