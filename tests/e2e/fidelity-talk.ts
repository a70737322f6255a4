import { eventually } from '../support/processes.js';
import type { Frame, StdioPeer } from '../support/stdio-peer.js';

/** One step of the conversation and every frame that the client got in it. */
export interface Step {
  name: string;
  frames: Frame[];
}

/** A conversation that is held twice, word by word the same; what is lost on the way shows in the comparison alone. */
export class Talk {
  readonly steps: Step[] = [];
  private begun = 0;
  /** Requests of this step so far: ids are the same also when one step takes fewer of them. */
  private inStep = 0;

  constructor(readonly peer: StdioPeer) {}

  /** Everything that `run` waits for belongs to this step. */
  async step(name: string, run: () => Promise<unknown>): Promise<void> {
    await run();
    const { frames } = this.peer;
    this.steps.push({ name, frames: frames.slice(this.begun) });
    this.begun = frames.length;
    this.inStep = 0;
  }

  /** Sends a request, under an id that is text or number in turn, and waits for its answer. */
  ask(method: string, params?: object): Promise<Frame | undefined> {
    const id = this.send(method, params);
    return this.heard((frame) => frame.id === id && frame.method === undefined);
  }

  /** The same without a wait; answers the id. */
  send(method: string, params?: object): string | number {
    const number = this.steps.length * 100 + this.inStep++;
    const id = number % 2 === 0 ? number : `id-${number}`;
    this.peer.send({ id, method, ...(params ? { params } : {}) });
    return id;
  }

  /** Has the server do something. */
  act(args: object, more: object = {}): Promise<Frame | undefined> {
    return this.ask('tools/call', { name: 'act', arguments: args, ...more });
  }

  /** Follows the pages of a list. */
  async pages(method: string, more: object = {}): Promise<void> {
    let cursor: unknown;
    do {
      const params = { ...(cursor === undefined ? {} : { cursor }), ...more };
      const answer = await this.ask(method, Object.keys(params).length > 0 ? params : undefined);
      cursor = answer?.result?.nextCursor;
    } while (cursor !== undefined);
  }

  /** Waits for such a frame in this step; not for ever, as one that got lost is a finding. */
  async heard(fits: (frame: Frame) => boolean): Promise<Frame | undefined> {
    try {
      return await eventually('it was heard', () => this.peer.frames.slice(this.begun).find(fits), 3000);
    } catch {
      // The comparison says what is missing.
      return undefined;
    }
  }

  /** Waits for a request or notification of the server. */
  told(method: string): Promise<Frame | undefined> {
    return this.heard((frame) => frame.method === method);
  }

  /** Has the server ask, and answers it. */
  async answer(question: { method: string; params?: object }, reply: object): Promise<void> {
    const done = this.act({ steps: [{ ask: question }], result: { content: [] } });
    const frame = await this.told(question.method);
    if (frame) this.peer.send({ id: frame.id, ...reply });
    await done;
  }
}
