import { readFile } from 'node:fs/promises';

/**
 * The differences that are right as they are, from accepted.json: `check` is `scenario:check`, with `*` at its
 * end for all that begin so, `ways` and `suites` say
 * where it holds (none: everywhere), `reason` why.
 */
export async function readAccepted() {
  const entries = JSON.parse(await readFile(new URL('accepted.json', import.meta.url), 'utf8'));
  const used = new Set();
  return {
    reasonFor(way, suite, check) {
      const entry = entries.find((one) => fits(one.check, check) && covers(one, way, suite));
      if (entry) used.add(entry);
      return entry?.reason;
    },
    /** Entries that no difference of a whole run needed. */
    stale: () => entries.filter((entry) => !used.has(entry)),
  };
}

function fits(pattern, check) {
  return pattern.endsWith('*') ? check.startsWith(pattern.slice(0, -1)) : pattern === check;
}

function covers({ ways, suites }, way, suite) {
  return (ways?.includes(way) ?? true) && (suites?.includes(suite) ?? true);
}
