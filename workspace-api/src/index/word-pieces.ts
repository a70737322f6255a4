/** What BERT's tokenizers call WordPiece, for lower case without accents. */
export class WordPieces {
  private readonly ids: ReadonlyMap<string, number>;

  constructor(pieces: readonly string[]) {
    this.ids = new Map(pieces.map((piece, id) => [piece, id]));
  }

  /** Of at most so many pieces; what the vocabulary lacks is left out. */
  idsOf(text: string, most: number): number[] {
    const found: number[] = [];
    for (const [word] of plain(text).matchAll(WORDS)) {
      this.split(word, found);
      if (found.length >= most) break;
    }
    return found;
  }

  /** The longest piece that the word begins with, then of the rest likewise; a word with a part that is none is left out. */
  private split(word: string, found: number[]): void {
    if (word.length > MAX_WORD) return;
    const before = found.length;
    for (let begin = 0; begin < word.length; ) {
      let end = word.length;
      let id: number | undefined;
      for (; end > begin; end -= 1) {
        const part = word.slice(begin, end);
        id = this.ids.get(begin === 0 ? part : `##${part}`);
        if (id !== undefined) break;
      }
      if (id === undefined) {
        found.length = before;
        return;
      }
      found.push(id);
      begin = end;
    }
  }
}

const MAX_WORD = 100;
/** Words, single signs, and single characters of scripts that put no spaces. */
const WORDS = /[\p{Script=Han}]|[^\s\p{P}\p{S}\p{Script=Han}]+|[\p{P}\p{S}]/gu;

/** `readFile` and `read_file` are two words each. */
function plain(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '');
}
