import { AppError } from '@mcpbridge/shared/errors.js';
import { parsePatch, type StructuredPatch } from 'diff';

export interface Hunk {
  /** From 1; undefined: the diff does not say. */
  start: number | undefined;
  /** Each with its sign: ` `, `-`, `+`, or `\` for a missing newline. */
  lines: string[];
}

export interface FileDiff {
  hunks: Hunk[];
  /** It makes the file. */
  isNew: boolean;
  /** Counts, signs or headers were wrong, and were put right by what the lines say. */
  isMended: boolean;
}

/** A unified diff of one file, also as models write them. @throws INVALID_REQUEST */
export function readDiff(text: string): FileDiff {
  const strict = parsed(text);
  if (strict) return strict;
  const lines = withoutFence(text.split('\n'));
  const hunks: Hunk[] = [];
  let isNew = false;
  for (const [index, line] of lines.entries()) {
    if (isHeader(lines, index)) {
      if (hunks.length > 0 && line.startsWith('--- '))
        throw invalid('is of several files: send one for each');
      isNew ||= line.startsWith('--- /dev/null');
    } else if (line.startsWith('@@')) hunks.push({ start: startOf(line), lines: [] });
    else hunks.at(-1)?.lines.push(signed(line));
  }
  for (const { lines: own } of hunks) while (own.at(-1) === ' ') own.pop();
  if (hunks.every((hunk) => !hunk.lines.some((line) => /^[-+]/.test(line))))
    throw invalid('changes nothing: it needs "@@" and lines with "-" or "+"');
  return { hunks, isNew, isMended: true };
}

function parsed(text: string): FileDiff | undefined {
  let patches: StructuredPatch[];
  try {
    patches = parsePatch(text);
  } catch {
    // Read leniently instead, which says what is wrong if it is beyond that.
    return undefined;
  }
  const changing = patches.filter(({ hunks }) => hunks.length > 0);
  if (changing.length > 1) throw invalid('is of several files: send one for each');
  const [patch] = changing;
  if (!patch) return undefined;
  if (patch.newFileName === '/dev/null') throw invalid('deletes the file: DELETE /api/documents/… does that');
  const hunks = patch.hunks.map(({ oldStart, lines }) => ({ start: oldStart, lines }));
  return { hunks, isNew: patch.oldFileName === '/dev/null', isMended: false };
}

/** Lines before the first hunk that name files, and what begins another file's part. */
function isHeader(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? '';
  if (/^(diff --git |index [0-9a-f]+\.\.)/.test(line)) return true;
  if (line.startsWith('--- ')) return lines[index + 1]?.startsWith('+++ ') ?? false;
  return line.startsWith('+++ ') && (lines[index - 1]?.startsWith('--- ') ?? false);
}

function startOf(header: string): number | undefined {
  const [, start, count] = /^@@ -(\d+)(?:,(\d+))? /.exec(header) ?? [];
  if (start === undefined) return undefined;
  // Where nothing is taken away the number is that of the line before.
  return Number(start) + (count === '0' ? 1 : 0);
}

function signed(line: string): string {
  return /^[-+ \\]/.test(line) ? line : ` ${line}`;
}

function withoutFence(lines: readonly string[]): readonly string[] {
  const isFence = (line: string | undefined) => line?.trimStart().startsWith('```') ?? false;
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return isFence(lines[first]) ? lines.slice(first + 1, isFence(lines[last]) ? last : undefined) : lines;
}

function invalid(why: string): AppError {
  return new AppError('INVALID_REQUEST', `The diff ${why}.`);
}
