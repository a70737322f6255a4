/** One server-sent event; `data` is copied out of the stream, ready to be passed on. */
export interface StreamEvent {
  data: Buffer;
  id: string | undefined;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;

/** Cuts a `text/event-stream` into its events, in bytes and in time linear in them. */
export class EventReader {
  /** The server's wish for the time before a reconnect. */
  retryMs: number | undefined;
  private parts: Buffer[] = [];
  private data: Buffer[] = [];
  private id: string | undefined;

  constructor(private readonly onEvent: (event: StreamEvent) => void) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.parts.push(chunk.subarray(start, end));
      this.readLine();
      start = end + 1;
    }
    if (start < chunk.length) this.parts.push(chunk.subarray(start));
  }

  private readLine(): void {
    const [first] = this.parts;
    let line = this.parts.length === 1 && first ? first : Buffer.concat(this.parts);
    this.parts = [];
    if (line[line.length - 1] === CR) line = line.subarray(0, -1);
    if (line.length === 0) this.finishEvent();
    else this.readField(line);
  }

  private readField(line: Buffer): void {
    const colon = line.indexOf(COLON);
    if (colon === 0) return;
    const name = line.toString('latin1', 0, colon === -1 ? line.length : colon);
    const start = colon === -1 ? line.length : colon + (line[colon + 1] === SPACE ? 2 : 1);
    if (name === 'data') this.data.push(line.subarray(start));
    else if (name === 'id') this.id = line.toString('utf8', start);
    else if (name === 'retry') this.retryMs = Number(line.toString('latin1', start)) || undefined;
  }

  private finishEvent(): void {
    const { data, id } = this;
    this.data = [];
    // Without data it is a sign of life, or only sets the id.
    if (data.length === 0 || data.every((line) => line.length === 0)) return;
    this.onEvent({ data: data.length === 1 && data[0] ? data[0] : joinLines(data), id });
  }
}

function joinLines(lines: Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from('\n'), line])));
}
