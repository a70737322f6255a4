import type { Usage } from '@mcpbridge/shared/conversation.js';
import type { RunStep } from '@mcpbridge/shared/run-step.js';

type Of<Type extends RunStep['type']> = Extract<RunStep, { type: Type }>;

/** One line of a run as it is shown: pieces put together, a call with its result. */
export type Item = { key: string; run: string; seq: number | undefined; at: number } & (
  | { kind: 'user' | 'thinking' | 'text'; text: string }
  | { kind: 'call'; call: Of<'tool_call'>; result?: Of<'tool_result'>; proposal?: Of<'proposal'> }
  | { kind: 'other'; step: Of<'plan' | 'step' | 'final_answer' | 'error' | 'retry'> }
);

const NOTHING: Usage = { inputTokens: 0, outputTokens: 0 };

/** The steps of a run, folded into what is shown. Items are replaced, never changed, so that only these are painted anew. */
export class RunLog {
  items: Item[] = [];
  usage: Usage = NOTHING;
  /** Steps of plans that are over, with how. */
  readonly outcomes = new Map<string, boolean>();
  private readonly calls = new Map<string, number>();
  private count = 0;

  add(step: RunStep): void {
    if (step.type === 'text' || step.type === 'thinking' || step.type === 'user') this.say(step);
    else if (step.type === 'usage') this.usage = sum(this.usage, step.usage);
    else if (step.type === 'tool_call') {
      this.calls.set(step.id, this.items.length);
      this.push(step, { kind: 'call', call: step });
    } else if (step.type === 'tool_result') this.toCall(step.id, { result: step });
    else if (step.type === 'proposal') this.toCall(step.id, { proposal: step });
    else {
      if (step.type === 'retry') this.dropUnfinished(step.run);
      if (step.type === 'step') this.outcomes.set(step.step, step.ok);
      if (step.type === 'final_answer') this.dropSaid(step);
      this.push(step, { kind: 'other', step });
    }
  }

  /** What has no number yet will come again, whole. */
  dropUnfinished(run?: string): void {
    const isKept = (item: Item) =>
      item.seq !== undefined ||
      (run !== undefined && item.run !== run) ||
      (item.kind !== 'text' && item.kind !== 'thinking');
    if (!this.items.every(isKept)) this.replace(this.items.filter(isKept));
  }

  private say(step: Of<'text' | 'thinking' | 'user'>): void {
    const place = this.items.findLastIndex(({ run }) => run === step.run);
    const last = this.items[place];
    const isPiece = step.at === undefined && last?.seq === undefined && last?.kind === step.type;
    if (isPiece && last && 'text' in last) this.items[place] = { ...last, text: last.text + step.text };
    else this.push(step, { kind: step.type, text: step.text });
  }

  /** An answer says once more what was said. */
  private dropSaid({ run, text }: Of<'final_answer'>): void {
    const place = this.items.findLastIndex((item) => item.run === run);
    const last = this.items[place];
    if (last?.kind === 'text' && last.text.trim() === text.trim())
      this.replace(this.items.filter((item) => item !== last));
  }

  private push(step: RunStep, content: DistributedContent): void {
    const seq = step.at === undefined ? undefined : Math.floor(step.at);
    // A step that lasts makes the words before it last as well.
    if (seq !== undefined) this.lasting(step.run, seq);
    this.items.push({ key: String(this.count++), run: step.run, seq, at: Date.now(), ...content });
  }

  private lasting(run: string, seq: number): void {
    for (let place = this.items.length - 1; place >= 0; place--) {
      const item = this.items[place];
      if (!item || item.run !== run || item.seq !== undefined) break;
      this.items[place] = { ...item, seq };
    }
  }

  private toCall(id: string, more: { result?: Of<'tool_result'>; proposal?: Of<'proposal'> }): void {
    const place = this.calls.get(id);
    const item = place === undefined ? undefined : this.items[place];
    if (place === undefined || item?.kind !== 'call') return;
    const at = more.result?.at ?? more.proposal?.at;
    this.items[place] = { ...item, ...more, seq: at === undefined ? item.seq : Math.floor(at) };
  }

  private replace(items: Item[]): void {
    this.items = items;
    this.calls.clear();
    for (const [place, item] of items.entries())
      if (item.kind === 'call') this.calls.set(item.call.id, place);
  }
}

type Without<Type> = Type extends unknown ? Omit<Type, 'key' | 'run' | 'seq' | 'at'> : never;
type DistributedContent = Without<Item>;

function sum(a: Usage, b: Usage): Usage {
  const cost = a.cost === undefined && b.cost === undefined ? {} : { cost: (a.cost ?? 0) + (b.cost ?? 0) };
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...cost,
  };
}
