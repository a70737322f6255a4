import { AppError } from '@mcpbridge/shared/errors.js';
import picomatch from 'picomatch';

const OPTIONS = { dot: true, nonegate: true } as const;
const MAX_LENGTH = 1000;

export type Matches = (path: string) => boolean;

/** `src/**` + `/*.ts` by the path below the folder that is looked through; hidden files are files. */
export function globMatcher(glob: string): Matches {
  if (glob.length > MAX_LENGTH)
    throw new AppError('INVALID_REQUEST', `A glob may have at most ${MAX_LENGTH} characters.`);
  return picomatch(glob.replace(/^\.?\/+/, ''), OPTIONS);
}

/** As in a search: several by commas, one with `!` in front leaves out, one without a slash is about names at any depth. */
export function filterMatcher(globs: string | undefined): Matches {
  if (!globs) return () => true;
  const parts = splitGlobs(globs);
  const wanted = parts.filter((part) => !part.startsWith('!')).map(anywhere);
  const unwanted = parts.filter((part) => part.startsWith('!')).map((part) => anywhere(part.slice(1)));
  return (path) =>
    (wanted.length === 0 || wanted.some((matches) => matches(path))) &&
    !unwanted.some((matches) => matches(path));
}

function anywhere(glob: string): Matches {
  if (glob.includes('/')) return globMatcher(glob);
  const inFolder = globMatcher(`**/${glob}/**`);
  const byName = globMatcher(`**/${glob}`);
  return (path) => byName(path) || inFolder(path);
}

/** By commas that are in no braces. */
function splitGlobs(text: string): string[] {
  const parts: string[] = [];
  let [depth, begin] = [0, 0];
  for (let at = 0; at <= text.length; at += 1) {
    const char = text[at];
    if (char === '{') depth += 1;
    if (char === '}') depth -= 1;
    if (char !== undefined && (char !== ',' || depth > 0)) continue;
    const part = text.slice(begin, at).trim();
    if (part) parts.push(part);
    begin = at + 1;
  }
  return parts;
}

/** The folder that a glob's matches are all in, to look through that one alone. */
export function folderOfGlob(glob: string): string {
  const { base } = picomatch.scan(glob.replace(/^\.?\/+/, ''));
  return base;
}
