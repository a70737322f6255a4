import { fstatSync } from 'node:fs';
import { linesOf } from './lines.js';
import { openInside } from './open-inside.js';
import type { Pattern } from './pattern.js';

/** One line that fits. */
export interface Match {
  /** Relative to the workspace. */
  path: string;
  /** From 1. */
  line: number;
  /** Of the first match in the line, from 1, in UTF-16 units. */
  column: number;
  text: string;
  matched: string;
  before: string[];
  after: string[];
}

export interface Search {
  pattern: Pattern;
  /** Lines shown before and after each. */
  context: number;
}

/** Characters of a line that are shown, and how many of them at least before the match. */
const SHOWN = 400;
const LEAD = 100;

export interface Matcher {
  search: Search;
  expression: RegExp;
  skip(bytes: Buffer): boolean;
}

export function matcherOf(search: Search): Matcher {
  const { source, flags, text } = search.pattern;
  const bytes = text !== undefined && !flags.includes('i') ? Buffer.from(text) : undefined;
  return {
    search,
    expression: new RegExp(source, flags),
    // With context a window without a match may still hold what is shown beside one.
    skip: (part) => bytes !== undefined && search.context === 0 && !part.includes(bytes),
  };
}

/** At most so many matches of a file, in the order of its lines. */
export function matchFile(root: string, path: string, matcher: Matcher, most: number): Match[] {
  return (
    openInside(root, path, (descriptor) =>
      isReadable(descriptor) ? matchLines(descriptor, path, matcher, most) : [],
    ) ?? []
  );
}

/** A file with another name, too, might be one that the session must not read. */
export function isReadable(descriptor: number): boolean {
  const stats = fstatSync(descriptor);
  return stats.isFile() && stats.nlink === 1;
}

function matchLines(
  descriptor: number,
  path: string,
  { search, expression, skip }: Matcher,
  most: number,
): Match[] {
  const { context } = search;
  const found: Match[] = [];
  const before: string[] = [];
  let line = 0;
  for (const text of linesOf(descriptor, skip)) {
    if (typeof text === 'number') {
      line += text;
      continue;
    }
    line += 1;
    for (let at = found.length - 1; at >= 0; at -= 1) {
      const match = found[at];
      if (!match || match.line < line - context) break;
      match.after.push(cut(text, 0));
    }
    const hit = found.length < most ? expression.exec(text) : null;
    if (hit) {
      const { index, 0: matched } = hit;
      const shown = { text: cut(text, index), matched: cut(matched, 0) };
      found.push({ path, line, column: index + 1, ...shown, before: [...before], after: [] });
    }
    if (found.length >= most && line >= (found.at(-1)?.line ?? 0) + context) break;
    if (context > 0) before.push(cut(text, 0));
    if (before.length > context) before.shift();
  }
  return found;
}

/** A part of a long line with the match in it; no character is cut in two. */
function cut(text: string, at: number): string {
  if (text.length <= SHOWN) return text;
  const begin = Math.max(0, Math.min(at - LEAD, text.length - SHOWN));
  const part = text.slice(begin, begin + SHOWN).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${begin > 0 ? '…' : ''}${part}${begin + SHOWN < text.length ? '…' : ''}`;
}
