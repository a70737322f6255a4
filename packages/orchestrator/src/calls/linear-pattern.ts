import type { Pattern } from '@mcpbridge/shared/validate.js';
import type { RE2JS } from 're2js';

let engine: typeof RE2JS | undefined;
let loading: Promise<void> | undefined;

/**
 * A pattern of somebody else's schema, tried in time linear in the text: V8's own engine goes back and forth for years over
 * `(a+)+$` and thirty letters. Those that surely do not are left to it, as they are most and it is the faster one. What the
 * linear engine cannot read, such as a look ahead, fits everything: then the check is the server's alone.
 */
export function linearPattern(source: string, flags: string): Pattern {
  if (isPlain(source)) return new RegExp(source, flags);
  loading ??= load();
  let compiled: Pattern | undefined;
  return {
    test(text) {
      compiled ??= engine && compile(engine, source);
      return compiled?.test(text) ?? true;
    },
    toString: () => source,
  };
}

/** Resolves when patterns that are not plain are checked, too. */
export function patternsReady(): Promise<void> {
  loading ??= load();
  return loading;
}

/** Loaded with the first pattern that needs it: it takes 25 ms. */
async function load(): Promise<void> {
  engine = (await import('re2js')).RE2JS;
}

function compile(linear: typeof RE2JS, source: string): Pattern {
  try {
    return linear.compile(linear.translateRegExp(source));
  } catch {
    // Not in its language, or too large for it.
    return { test: () => true };
  }
}

const ESCAPES = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[0-9A-Fa-f]{4}|.)/gs;
const CLASSES = /\[[^\]]*\]/g;
const BACK_REFERENCE = /\\(?:[1-9]|k)/;

/** At most one repetition, of a single character, and from the start of the text: there is nothing to go back to. */
function isPlain(source: string): boolean {
  if (BACK_REFERENCE.test(source)) return false;
  const bare = source.replace(ESCAPES, 'x').replace(CLASSES, 'x');
  if (/\(\?|\)[*+?{]/.test(bare)) return false;
  const repetitions = bare.match(/[*+]|\{\d*,\d*\}/g)?.length ?? 0;
  return repetitions === 0 || (repetitions === 1 && bare.startsWith('^') && !bare.includes('|'));
}
