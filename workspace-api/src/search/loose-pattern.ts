import { type AST, RegExpParser } from '@eslint-community/regexpp';
import type { Pattern } from './pattern.js';

/** One character, or the bytes that are shown as one since they are no UTF-8. */
const ANY = '(?:.|(?-u:[\\x80-\\xff]){1,3})';
const SPACE =
  '\\t\\n\\x0b\\x0c\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const SETS = { digit: '0-9', word: '0-9A-Za-z_', space: SPACE } as const;
const SHOWN_FOR_BROKEN = 0xfffd;
/** Repetitions are cheap for us and not for ripgrep. */
const MAX_COUNT = 50;

/**
 * A ripgrep expression that fits every line that the JavaScript one fits, and maybe others: with it ripgrep says which
 * files are worth reading, and the answer is ours, so that it is the same with ripgrep and without.
 * Undefined: there is none.
 */
export function loosePattern({ source, flags, text }: Pattern): string | undefined {
  if (text !== undefined) return [...text].map((char) => character(char.codePointAt(0) ?? 0, true)).join('');
  const unicode = flags.includes('u');
  try {
    const { alternatives } = new RegExpParser().parsePattern(source, 0, source.length, { unicode });
    return new Loosened(unicode).alternatives(alternatives);
  } catch {
    return undefined;
  }
}

function character(code: number, unicode: boolean): string {
  return isPlain(code) ? `\\x{${code.toString(16)}}` : one(unicode);
}

/** What ripgrep sees as we do: not halves of characters, nor what is shown for bytes that are none. */
function isPlain(code: number): boolean {
  return !(code >= 0xd800 && code <= 0xdfff) && code !== SHOWN_FOR_BROKEN;
}

/** Without the u flag a character outside the basic plane counts as two. */
function one(unicode: boolean): string {
  return unicode ? ANY : `${ANY}?`;
}

class Loosened {
  private readonly one: string;

  constructor(private readonly unicode: boolean) {
    this.one = one(unicode);
  }

  alternatives(all: readonly AST.Alternative[]): string {
    return all.map(({ elements }) => elements.map((element) => this.element(element)).join('')).join('|');
  }

  private element(element: AST.Element): string {
    switch (element.type) {
      case 'Assertion':
        return this.assertion(element);
      case 'Quantifier':
        return this.quantifier(element);
      case 'CapturingGroup':
        return `(?:${this.alternatives(element.alternatives)})`;
      case 'Group':
        if (element.modifiers) throw new Error('has modifiers');
        return `(?:${this.alternatives(element.alternatives)})`;
      case 'CharacterSet':
        return this.set(element);
      case 'CharacterClass':
        return this.class(element);
      case 'Character':
        return character(element.value, this.unicode);
      case 'Backreference':
        return `${ANY}*`;
      default:
        throw new Error(`${element.type} has no counterpart`);
    }
  }

  private assertion({ kind }: AST.Assertion): string {
    if (kind === 'start') return '^';
    // Our lines end before the CR of a CRLF.
    return kind === 'end' ? '(?:\\r?$)' : '';
  }

  private quantifier({ element, min, max }: AST.Quantifier): string {
    const inner = this.element(element);
    if (inner === '') return '';
    const most = max > MAX_COUNT ? '' : max;
    return `(?:${inner}){${Math.min(min, MAX_COUNT)},${most}}`;
  }

  private set(set: AST.CharacterSet): string {
    return set.kind === 'any' || set.kind === 'property' || set.negate ? this.one : `[${SETS[set.kind]}]`;
  }

  private class({ negate, elements }: AST.CharacterClass): string {
    if (negate) return this.one;
    const parts: string[] = [];
    for (const element of elements) {
      const part = this.part(element);
      if (part === undefined) return this.one;
      parts.push(part);
    }
    // An empty class fits nothing.
    return parts.length > 0 ? `[${parts.join('')}]` : '[^\\x{0}-\\x{10ffff}]';
  }

  private part(element: AST.CharacterClassElement): string | undefined {
    if (element.type === 'Character') return range(element.value, element.value);
    if (element.type === 'CharacterClassRange') return range(element.min.value, element.max.value);
    if (element.type !== 'CharacterSet' || element.kind === 'property' || element.negate) return undefined;
    return SETS[element.kind];
  }
}

/** Undefined where it holds what ripgrep does not see as we do. */
function range(min: number, max: number): string | undefined {
  const holdsBroken = min <= SHOWN_FOR_BROKEN && SHOWN_FOR_BROKEN <= max;
  return isPlain(min) && isPlain(max) && !holdsBroken
    ? `\\x{${min.toString(16)}}-\\x{${max.toString(16)}}`
    : undefined;
}
