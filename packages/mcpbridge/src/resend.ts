import { BrokenOff } from './attempt.js';

const RESENDS = 2;
/** Work that has lasted this long, such as a subscription, was not broken by being sent. */
const LASTED_MS = 10_000;

/** Does the work again when its connection broke and doing it twice is no harm. */
export async function withResends<T>(
  mayResend: (broken: BrokenOff) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  for (let left = RESENDS; ; left--) {
    const began = Date.now();
    try {
      return await work();
    } catch (error) {
      if (Date.now() - began > LASTED_MS) left = RESENDS;
      if (left === 0 || !(error instanceof BrokenOff) || !mayResend(error)) throw error;
    }
  }
}
