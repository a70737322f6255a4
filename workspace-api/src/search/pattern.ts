import { AppError, messageOf } from '@mcpbridge/shared/errors.js';

/** What is looked for, as a thread is given it. */
export interface Pattern {
  /** Of a JavaScript regular expression. */
  source: string;
  flags: string;
  /** The text, where it is one and not an expression. */
  text?: string;
}

export interface Wanted {
  query: string;
  /** True: a regular expression, as JavaScript has them. */
  regex: boolean;
  ignoreCase: boolean;
}

const MAX_LENGTH = 2000;

/** @throws INVALID_REQUEST with what is wrong with the expression */
export function readPattern({ query, regex, ignoreCase }: Wanted): Pattern {
  if (query.length > MAX_LENGTH)
    throw new AppError('INVALID_REQUEST', `A query may have at most ${MAX_LENGTH} characters.`);
  const i = ignoreCase ? 'i' : '';
  if (!regex)
    return { source: query.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), flags: `u${i}`, text: query };
  try {
    new RegExp(query, `u${i}`);
    return { source: query, flags: `u${i}` };
  } catch (strict) {
    // What needs no escape is often escaped all the same; only the older syntax lets that pass.
    if (isExpression(query, i)) return { source: query, flags: i };
    const hint = 'Correct it, or search for the text itself with regex=false.';
    throw new AppError(
      'INVALID_REQUEST',
      `The query is no regular expression: ${messageOf(strict)}. ${hint}`,
    );
  }
}

function isExpression(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags);
    return true;
  } catch {
    return false;
  }
}
