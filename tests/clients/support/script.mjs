/**
 * The turns that a scripted model takes, one after the other.
 * @param {import('./model-server.mjs').Turn[]} turns
 */
export function scriptOf(turns) {
  const left = [...turns];
  return {
    /** The steps of the turn that is due, without taking it. */
    peek(lastResult) {
      const turn = left[0] ?? [{ say: 'The script has ended.' }];
      return typeof turn === 'function' ? turn(lastResult) : turn;
    },
    take(lastResult) {
      const steps = this.peek(lastResult);
      left.shift();
      return steps;
    },
    /** How many turns nothing asked for. */
    left: () => left.length,
  };
}
