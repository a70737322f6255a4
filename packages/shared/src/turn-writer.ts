import type { Writable } from 'node:stream';

/** Up to here one copy is cheaper than a vector of writes. */
const JOIN_BYTES = 64 * 1024;

/** With so many the reader can begin, while the writer goes on with the rest of its turn. */
const MOST_JOINED = 16;

/** Called when a message was taken by the system, or with what hindered it. */
type Written = (error?: Error | null) => void;

/**
 * Writes a lone message at once, since its caller waits for it, and joins what is written in one turn of the event
 * loop into one system call while many are under way.
 */
export class TurnWriter {
  private parts: (Buffer | string)[] = [];
  /** Of texts their characters. */
  private bytes = 0;
  private waiting: Written[] = [];
  private messagesOfTurn = 0;
  private manyAtOnce = false;
  private turnEnds = false;

  constructor(private readonly output: Writable) {}

  /** One message, as text or in one or several parts of bytes; large ones are not copied. */
  write(message: string | readonly Buffer[], written?: Written): void {
    this.messagesOfTurn += 1;
    if (!this.turnEnds) {
      this.turnEnds = true;
      setImmediate(() => this.endTurn());
    }
    if (typeof message === 'string') this.add(message);
    else for (const part of message) this.add(part);
    if (written) this.waiting.push(written);
    const isLone = !this.manyAtOnce && this.messagesOfTurn === 1;
    if (isLone || this.messagesOfTurn % MOST_JOINED === 0) this.flush();
  }

  flush(): void {
    const { parts, bytes, waiting } = this;
    if (bytes === 0) return;
    this.parts = [];
    this.bytes = 0;
    this.waiting = [];
    const written = waiting.length > 0 ? tellAll(waiting) : undefined;
    if (parts.length === 1 || bytes <= JOIN_BYTES) {
      this.output.write(joined(parts), written);
      return;
    }
    this.output.cork();
    for (const part of parts.slice(0, -1)) this.output.write(part);
    this.output.write(parts.at(-1), written);
    this.output.uncork();
  }

  private add(part: Buffer | string): void {
    this.parts.push(part);
    this.bytes += part.length;
  }

  private endTurn(): void {
    this.turnEnds = false;
    this.manyAtOnce = this.messagesOfTurn > 1;
    this.messagesOfTurn = 0;
    this.flush();
  }
}

/** Texts stay text: the system's writer turns them into bytes faster than we do. */
function joined(parts: readonly (Buffer | string)[]): Buffer | string | undefined {
  if (parts.length === 1) return parts[0];
  if (parts.every((part) => typeof part === 'string')) return parts.join('');
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function tellAll(waiting: readonly Written[]): Written {
  return (error) => {
    for (const written of waiting) written(error);
  };
}
