import type { ConversationStore, EntryContent, Run, Usage } from '@mcpbridge/shared/conversation.js';
import { addUsage, NO_USAGE } from './brains/brain.js';

/** What a timer can do, 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** What a run and all that works for it have used together: the limits hold for the whole of it. */
export class Meter {
  private readonly begun = performance.now();
  private lateness: AbortSignal | undefined;

  private constructor(private sum: Usage) {}

  /** With what was used before the run was taken up again. */
  static async open(store: ConversationStore, { id, conversationId }: Run): Promise<Meter> {
    const meter = new Meter(NO_USAGE);
    for (const entry of await store.entries({ conversationId }))
      if (entry.runId === id || entry.runId.startsWith(`${id}.`)) meter.note(entry);
    return meter;
  }

  /** Of entries that say what others used only the others count. */
  note(entry: EntryContent): void {
    if (entry.kind !== 'assistant' && entry.kind !== 'plan' && entry.kind !== 'answer') return;
    if (entry.usage) this.sum = addUsage(this.sum, entry.usage);
  }

  get used(): Usage {
    return this.sum;
  }

  /** Aborted when the time of the run is over, counted from its begin or from when it was taken up; one for the whole of it. */
  late(limitMs: number): AbortSignal {
    const left = limitMs - (performance.now() - this.begun);
    this.lateness ??= AbortSignal.timeout(Math.min(LONGEST_MS, Math.max(0, Math.ceil(left))));
    return this.lateness;
  }
}
