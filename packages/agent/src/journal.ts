import type { ConversationStore, Entry, EntryContent, Run, Usage } from '@mcpbridge/shared/conversation.js';
import { addUsage, NO_USAGE } from './brains/brain.js';
import type { Meter } from './meter.js';
import { callIdOf } from './steps.js';

export interface OpenCall {
  callId: string;
  tool: string;
  call: (Entry & { kind: 'assistant' })['calls'][number];
}

export interface Told {
  text: string;
  data?: unknown;
  stopped?: string;
}

/** Of a final answer what others are told. */
export function told({ text, data, stopped }: Told): Told {
  return { text, ...(data === undefined ? {} : { data }), ...(stopped ? { stopped } : {}) };
}

/** What a run has done so far. Its state follows from these entries alone, so that it can be taken up anywhere. */
export class Journal {
  private constructor(
    private readonly store: ConversationStore,
    readonly run: Run,
    /** Of the runs before it. */
    readonly history: readonly Entry[],
    private readonly own: Entry[],
    private readonly meter: Meter | undefined,
  ) {}

  /** `meter` hears of what is used from here on. */
  static async open(store: ConversationStore, run: Run, meter?: Meter): Promise<Journal> {
    const history = run.after === undefined ? [] : await pathTo(store, run.conversationId, run.after);
    return new Journal(store, run, history, await store.entries({ runId: run.id }), meter);
  }

  get entries(): readonly Entry[] {
    return this.own;
  }

  get all(): Entry[] {
    return [...this.history, ...this.own];
  }

  /** Resolves when it is on disk. */
  async append<Content extends EntryContent>(content: Content): Promise<Entry & Content> {
    const entry = await this.store.append(this.run.conversationId, this.run.id, content);
    this.own.push(entry);
    this.meter?.note(content);
    return { ...entry, ...content };
  }

  /** The calls of the newest answer that have no result yet. */
  openCalls(): OpenCall[] {
    const newest = this.own.findLast((entry) => entry.kind === 'assistant');
    if (newest?.kind !== 'assistant') return [];
    const done = new Set(this.own.flatMap((entry) => (entry.kind === 'result' ? [entry.callId] : [])));
    return newest.calls
      .map((call, index) => ({ callId: callIdOf(newest, index), tool: call.tool, call }))
      .filter(({ callId }) => !done.has(callId));
  }

  /** The entry in which the call was made known as waiting for a person. */
  proposalOf(callId: string): (Entry & { kind: 'proposal' }) | undefined {
    const found = this.own.findLast((entry) => entry.kind === 'proposal' && entry.callId === callId);
    return found?.kind === 'proposal' ? found : undefined;
  }

  /** What the run ended with. */
  answer(): Told | undefined {
    const found = this.own.findLast((entry) => entry.kind === 'answer');
    return found?.kind === 'answer' ? told(found) : undefined;
  }

  iterations(): number {
    return this.own.filter((entry) => entry.kind === 'assistant').length;
  }

  usage(): Usage {
    return this.own.reduce<Usage>(
      (sum, entry) => ('usage' in entry && entry.usage ? addUsage(sum, entry.usage) : sum),
      NO_USAGE,
    );
  }
}

/** What led to an entry: those before it in its run, and what the run went on from. Branches beside it are left out. */
async function pathTo(store: ConversationStore, conversationId: string, seq: number): Promise<Entry[]> {
  const all = await store.entries({ conversationId });
  const runs = new Map((await store.runs({ conversationId })).map((run) => [run.id, run]));
  const path: Entry[] = [];
  for (let at: number | undefined = seq; at !== undefined; ) {
    const last: Entry | undefined = all.find((entry) => entry.seq === at);
    if (!last) break;
    const until = at;
    path.unshift(...all.filter((entry) => entry.runId === last.runId && entry.seq <= until));
    at = runs.get(last.runId)?.after;
  }
  return path;
}
