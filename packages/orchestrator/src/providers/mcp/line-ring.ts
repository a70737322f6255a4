const MAX_LINE = 4096;

/** The last lines of what somebody says; a very long line is cut. What one ring hears, its `next` hears too. */
export class LineRing {
  readonly lines: string[] = [];

  constructor(
    private readonly size: number,
    private readonly next?: { push(line: string): void },
  ) {}

  push(line: string): void {
    const short = line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line;
    if (this.lines.length >= this.size) this.lines.shift();
    this.lines.push(short);
    this.next?.push(short);
  }
}
