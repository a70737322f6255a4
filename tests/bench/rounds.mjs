// What is compared is measured in turns, round by round, so that a busy moment of the machine meets all alike.
import { median } from './stdio-client.mjs';

/** Answers by name what `work` gave in each round; the first `unmeasured` rounds do not count. */
export async function inRounds(rounds, named, work, unmeasured = 0) {
  const results = new Map(named.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds + unmeasured; round++) {
    for (const one of named) {
      const result = await work(one);
      if (round >= unmeasured) results.get(one.name).push(result);
    }
  }
  return results;
}

/** A function from a name and a field to the median over the rounds. */
export function medians(results) {
  return (name, field) => median(results.get(name).map((result) => result[field]));
}

/** A function from a name and a field to what it was in that name's best round: others' work can only make one worse. */
export function bestRounds(results, isBetter) {
  const best = new Map();
  for (const [name, all] of results)
    best.set(
      name,
      all.reduce((a, b) => (isBetter(b, a) ? b : a)),
    );
  return (name, field) => best.get(name)[field];
}

export const isFaster = (a, b) => a.perSecond > b.perSecond;
