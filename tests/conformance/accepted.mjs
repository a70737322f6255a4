import { readFile } from 'node:fs/promises';

/**
 * The differences that are right as they are, from accepted.json: `check` is `scenario:check`, `ways` and `suites` say
 * where it holds (none: everywhere), `reason` why.
 */
export async function readAccepted() {
  const entries = JSON.parse(await readFile(new URL('accepted.json', import.meta.url), 'utf8'));
  const used = new Set();
  return {
    reasonFor(way, suite, check) {
      const entry = entries.find((one) => one.check === check && covers(one, way, suite));
      if (entry) used.add(entry);
      return entry?.reason;
    },
    /** Entries that no difference of a whole run needed. */
    stale: () => entries.filter((entry) => !used.has(entry)),
  };
}

function covers({ ways, suites }, way, suite) {
  return (ways?.includes(way) ?? true) && (suites?.includes(suite) ?? true);
}
