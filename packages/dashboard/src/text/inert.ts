/** Characters that hide, reorder or steer: control characters, bidi marks, zero-width ones, tags. Line ends and tabs stay. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is for
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are meant
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d/gu;

const named = (character: string) =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

export type Piece = string | { mark: string };

/** Foreign text as what can be shown: harmless stretches, and a mark for each character that would not be seen. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) found.push(text.slice(from, match.index));
    found.push({ mark: named(match[0]) });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

/** The same in one line, for the cells of lists. */
export function inert(text: string): string {
  return text.replace(HIDDEN, (character) => `[${named(character)}]`);
}

export function hiddenCount(text: string): number {
  return text.match(HIDDEN)?.length ?? 0;
}
