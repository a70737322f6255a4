import { Allowance } from './allowance.js';

/** Units a second (see Allowance) of what is said of one's own accord on a connection. */
export const UNASKED_PER_SECOND = 5000;
/** So long after the last thing too much it still counts as flooding. */
const FLOOD_MS = 1000;

/** What an upstream says without being asked: how much of it there may be, and whether it was more of late. */
export class Unasked {
  private readonly allowance: Allowance;
  private floodedAt = Number.NEGATIVE_INFINITY;

  /** `bounded` hears of what there is too much of; `reason` is a sentence whose subject is the server. */
  constructor(
    readonly bounded: (what: string, reason: string) => void,
    perSecond = UNASKED_PER_SECOND,
  ) {
    this.allowance = new Allowance(perSecond);
  }

  get isFlooding(): boolean {
    return performance.now() < this.floodedAt + FLOOD_MS;
  }

  allows(bytes = 0): boolean {
    return this.allowance.allows(bytes);
  }

  /** Something that nobody waits for. */
  noise(bytes: number): void {
    if (!this.allows(bytes)) this.over('noise', 'It writes on and on what is no message.');
  }

  /** There was more than is taken. */
  over(what: string, reason: string): void {
    this.floodedAt = performance.now();
    this.bounded(what, reason);
  }
}
