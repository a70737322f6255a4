import { distance } from 'fastest-levenshtein';

/** The known name that a wrong one was surely meant to be: a letter or two off, or other case or separators. */
export function meantName(name: string, known: Iterable<string>): string | undefined {
  const wrong = plain(name);
  let best: { candidate: string; score: number } | undefined;
  for (const candidate of known) {
    const right = plain(candidate);
    const score = sameLetters(wrong, right) ? 1 : distance(wrong, right);
    if (score <= (right.length > 6 ? 2 : 1) && score < (best?.score ?? 3)) best = { candidate, score };
  }
  return best?.candidate;
}

function plain(name: string): string {
  return name.replace(/[-_ ]/g, '').toLowerCase();
}

function sameLetters(a: string, b: string): boolean {
  return a.length > 3 && [...a].sort().join('') === [...b].sort().join('');
}
