import { AppError } from '@mcpbridge/shared/errors.js';
import { applyPatch, type StructuredPatch } from 'diff';
import { quoted } from '../root/paths.js';
import { nearestLines } from './nearest-lines.js';
import { type FileDiff, type Hunk, readDiff } from './read-diff.js';

export interface Patched {
  text: string;
  /** `repaired`: not quite as the diff says; `repairs` tell what was let pass. */
  how: 'exact' | 'repaired';
  repairs: string[];
}

type Compare = (lineNumber: number, line: string | undefined, operation: string, wanted: string) => boolean;

interface Attempt {
  /** What it lets pass. */
  repair: string | undefined;
  fuzz: number;
  compare: Compare;
}

const same =
  (form: (line: string) => string): Compare =>
  (_number, line, _operation, wanted) =>
    line !== undefined && form(line) === form(wanted);
const trailing = same((line) => line.trimEnd());
const spaces = same((line) => line.trim().replaceAll(/\s+/g, ' '));

/** From what the diff says to what it may have meant; the first that fits is taken. */
const ATTEMPTS: Attempt[] = [
  { repair: undefined, fuzz: 0, compare: same((line) => line) },
  { repair: 'white space at the ends of lines differs', fuzz: 0, compare: trailing },
  { repair: 'white space differs', fuzz: 0, compare: spaces },
  { repair: 'up to two lines of context differ', fuzz: 2, compare: trailing },
];

/**
 * The text with the diff applied, all of it. `text` undefined: there is no such file, and the diff must make it.
 * @throws DIFF_NOT_APPLIED with the place that is nearest to what was expected, NOT_FOUND, CONFLICT, INVALID_REQUEST
 */
export function applyDiff(text: string | undefined, diffText: string, path: string): Patched {
  const diff = readDiff(diffText);
  if (text === undefined && diff.hunks.some((hunk) => oldLines(hunk).length > 0))
    throw new AppError('NOT_FOUND', `There is no file ${quoted(path)} for the diff to change.`);
  if (text && diff.isNew)
    throw new AppError('CONFLICT', `${quoted(path)} is there already, and the diff makes it as a new file.`);
  const before = text ?? '';
  for (const hunk of diff.hunks) checkPlace(before, hunk, path);
  for (const attempt of ATTEMPTS) {
    const after = applied(before, diff.hunks, attempt);
    if (after !== undefined) return { text: after, ...howOf(before, diff, attempt) };
  }
  throw misfit(before, diff.hunks, path);
}

function applied(
  text: string,
  hunks: readonly Hunk[],
  { repair, fuzz, compare }: Attempt,
): string | undefined {
  const patch: StructuredPatch = {
    oldFileName: undefined,
    newFileName: undefined,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: hunks.map((hunk) => {
      // What is said about the last newline is the first thing to be let pass.
      const lines = repair === undefined ? hunk.lines : hunk.lines.filter((line) => !line.startsWith('\\'));
      const start = hunk.start ?? 1;
      return { oldStart: start, newStart: start, oldLines: oldLines(hunk).length, newLines: 0, lines };
    }),
  };
  const after = applyPatch(text, patch, { fuzzFactor: fuzz, compareLine: compare as never });
  return after === false ? undefined : after;
}

function howOf(text: string, { hunks, isMended }: FileDiff, { repair }: Attempt): Omit<Patched, 'text'> {
  const lines = text.split('\n');
  const stands = (hunk: Hunk) =>
    oldLines(hunk).every((line, index) => lines[(hunk.start ?? 1) - 1 + index]?.trimEnd() === line.trimEnd());
  const repairs = [
    ...(isMended ? ['the diff itself was not well formed'] : []),
    ...(repair === undefined ? [] : [repair]),
    ...(repair === undefined && !hunks.every(stands) ? ['lines are at other numbers'] : []),
  ];
  return { how: repairs.length === 0 ? 'exact' : 'repaired', repairs };
}

/** Without a line number a place must be the only one of its kind. */
function checkPlace(text: string, hunk: Hunk, path: string): void {
  if (hunk.start !== undefined || text === '') return;
  const wanted = oldLines(hunk);
  const lines = text.split('\n');
  const places = lines.flatMap((_line, at) =>
    wanted.every((line, index) => lines[at + index] === line) ? [at + 1] : [],
  );
  if (wanted.length > 0 && places.length < 2) return;
  const where = wanted.length === 0 ? 'anywhere' : `at lines ${places.slice(0, 5).join(', ')}`;
  throw new AppError(
    'DIFF_NOT_APPLIED',
    `The diff does not say where in ${quoted(path)}: a part of it fits ${where}. Give line numbers after "@@", or more lines around.`,
    { details: { lines: places.slice(0, 100) } },
  );
}

function misfit(text: string, hunks: readonly Hunk[], path: string): AppError {
  const fits = (count: number) =>
    ATTEMPTS.some((attempt) => applied(text, hunks.slice(0, count), attempt) !== undefined);
  const index = hunks.findIndex((_hunk, at) => !fits(at + 1));
  const expected = oldLines(hunks[index] as Hunk);
  const nearest = nearestLines(text.split('\n'), expected);
  const shown = nearest
    ? `The nearest is at line ${nearest.line}:\n${nearest.text}`
    : 'None of its lines is anywhere in the file.';
  return new AppError(
    'DIFF_NOT_APPLIED',
    `The diff does not fit ${quoted(path)}, and nothing was changed: part ${index + 1} of ${hunks.length} expects lines that are not there. ${shown}`,
    {
      details: {
        part: index + 1,
        parts: hunks.length,
        expected: expected.join('\n'),
        nearest: nearest ?? null,
      },
    },
  );
}

function oldLines({ lines }: Hunk): string[] {
  return lines.filter((line) => /^[ -]/.test(line)).map((line) => line.slice(1));
}
