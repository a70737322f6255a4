import { createHash } from 'node:crypto';
import { distance } from 'fastest-levenshtein';

const SEPARATOR = '__';
/** `mcp__gateway__` and this many characters stay within the 60 that the strictest client takes. */
export const MAX_EXPOSED_NAME = 46;

/** What the listed names of a server's tools begin with, where they are not cut. */
export function exposedPrefix(server: string): string {
  const prefix = `${server}${SEPARATOR}`.replace(/[^a-zA-Z0-9_-]/g, '_');
  return /^[a-zA-Z_]/.test(prefix) ? prefix : `_${prefix}`;
}

/**
 * The name under which a server's tool is listed: `server__tool`, in letters that every client takes.
 * What was cut or replaced gets a hash of the exact pair, so two tools never share a name.
 */
export function exposedName(server: string, tool: string): string {
  const exact = `${server}${SEPARATOR}${tool}`;
  let name = exact.replace(/[^a-zA-Z0-9_-]/g, '_');
  if (!/^[a-zA-Z_]/.test(name)) name = `_${name}`;
  if (name === exact && name.length <= MAX_EXPOSED_NAME) return name;
  return withHash(name, server, tool);
}

/** For a name that two pairs would share (`a__b` + `c`, `a` + `b__c`), or that is over `longest` characters. */
export function withHash(name: string, server: string, tool: string, longest = MAX_EXPOSED_NAME): string {
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 6);
  return `${name.slice(0, longest - hash.length - 1)}_${hash}`;
}

/** Up to `count` known names that a mistyped one may have meant, nearest first. */
export function nearestNames(name: string, known: Iterable<string>, count = 3): string[] {
  const wanted = name.toLowerCase();
  const scored: { candidate: string; score: number }[] = [];
  for (const candidate of known) {
    const text = candidate.toLowerCase();
    const part = text.includes(wanted) || wanted.includes(text);
    const score = part ? 0.2 : distance(wanted, text) / Math.max(wanted.length, text.length);
    if (score < 0.6) scored.push({ candidate, score });
  }
  scored.sort((a, b) => a.score - b.score || a.candidate.localeCompare(b.candidate));
  return scored.slice(0, count).map((entry) => entry.candidate);
}

/** ` Nearest: "a", "b".` or nothing. */
export function nearestHint(name: string, known: Iterable<string>): string {
  const names = nearestNames(name, known);
  return names.length === 0 ? '' : ` Nearest: ${names.map((found) => `"${found}"`).join(', ')}.`;
}
