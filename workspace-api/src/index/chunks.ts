/** A piece of a text that is found as one. */
export interface Chunk {
  text: string;
  /** From 1, both within. */
  firstLine: number;
  lastLine: number;
}

/** Characters of a chunk, and how many of them the next one begins with again. */
const SIZE = 1000;
const OVERLAP = 200;

/** Whole lines where they fit; each chunk begins with the last lines of the one before, so that nothing is torn apart. */
export function chunksOf(lines: Iterable<string>): Chunk[] {
  const chunks: Chunk[] = [];
  let held: { text: string; line: number }[] = [];
  let size = 0;
  let isNew = false;
  let line = 0;
  for (const whole of lines) {
    line += 1;
    for (const text of pieces(whole)) {
      if (size + text.length > SIZE && isNew) {
        emit();
        held = tail(held);
        size = lengthOf(held);
        isNew = false;
      }
      held.push({ text, line });
      size += text.length + 1;
      isNew = true;
    }
  }
  if (isNew) emit();
  return chunks;

  function emit(): void {
    const text = held.map((one) => one.text).join('\n');
    const [first, last] = [held[0], held.at(-1)];
    if (text.trim() !== '' && first && last)
      chunks.push({ text, firstLine: first.line, lastLine: last.line });
  }
}

function tail(held: { text: string; line: number }[]): { text: string; line: number }[] {
  let size = 0;
  let begin = held.length;
  while (begin > 0 && (size += (held[begin - 1]?.text.length ?? 0) + 1) <= OVERLAP) begin -= 1;
  return held.slice(begin);
}

function lengthOf(held: { text: string }[]): number {
  return held.reduce((sum, { text }) => sum + text.length + 1, 0);
}

/** Of a line that is longer than a chunk; no character is cut in two. */
function* pieces(line: string): Generator<string> {
  for (let begin = 0; begin < line.length || begin === 0; ) {
    let end = Math.min(begin + SIZE, line.length);
    if (end < line.length && /[\ud800-\udbff]/.test(line[end - 1] ?? '')) end -= 1;
    yield line.slice(begin, end);
    if (end === line.length) return;
    begin = end;
  }
}
