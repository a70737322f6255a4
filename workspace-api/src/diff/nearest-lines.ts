/** Lines that are compared word by word when none is equal. */
const MAX_COMPARED = 20_000;

/** The place in a file that looks most like these lines, for whoever has to write them anew. */
export function nearestLines(
  lines: readonly string[],
  wanted: readonly string[],
): { line: number; text: string } | undefined {
  const start = byEqualLines(lines, wanted) ?? byWords(lines, wanted);
  if (start === undefined) return undefined;
  const from = Math.min(Math.max(0, start), Math.max(0, lines.length - 1));
  const text = lines.slice(from, from + Math.min(Math.max(wanted.length, 3), 40)).join('\n');
  return { line: from + 1, text: text.slice(0, 4000) };
}

/** Each line that is equal, but for white space, votes for where the whole would begin. */
function byEqualLines(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const places = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const key = line.trim();
    if (key !== '') places.set(key, [...(places.get(key) ?? []), index]);
  }
  const votes = new Map<number, number>();
  let best: number | undefined;
  for (const [at, line] of lines.entries()) {
    for (const index of places.get(line.trim()) ?? []) {
      const start = at - index;
      const count = (votes.get(start) ?? 0) + 1;
      votes.set(start, count);
      if (best === undefined || count > (votes.get(best) ?? 0)) best = start;
    }
  }
  return best;
}

/** The line that shares the most words with the longest of the wanted ones. */
function byWords(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const longest = wanted.reduce((one, other) => (other.length > one.length ? other : one), '');
  const words = new Set(wordsOf(longest));
  let best: number | undefined;
  let most = 0;
  for (const [at, line] of lines.slice(0, MAX_COMPARED).entries()) {
    const shared = new Set(wordsOf(line).filter((word) => words.has(word))).size;
    if (shared > most) [best, most] = [at, shared];
  }
  return best === undefined ? undefined : best - wanted.indexOf(longest);
}

function wordsOf(line: string): string[] {
  return line.slice(0, 1000).match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
}
