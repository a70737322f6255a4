import type { Hide } from '@mcpbridge/shared/secrets.js';

const MAX_LINE = 4096;

/** The last lines of what somebody says, without secrets; a very long line is cut. What one ring hears, its `next` hears too. */
export class LineRing {
  readonly lines: string[] = [];

  constructor(
    private readonly size: number,
    private readonly next?: { push(line: string): void },
    private readonly hide: Hide = (text) => text,
  ) {}

  push(line: string): void {
    const shown = this.hide(line);
    const short = shown.length > MAX_LINE ? `${shown.slice(0, MAX_LINE)}…` : shown;
    if (this.lines.length >= this.size) this.lines.shift();
    this.lines.push(short);
    this.next?.push(short);
  }
}
