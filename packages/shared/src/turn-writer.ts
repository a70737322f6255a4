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
  private parts: Buffer[] = [];
  private bytes = 0;
  private waiting: Written[] = [];
  private messagesOfTurn = 0;
  private manyAtOnce = false;
  private turnEnds = false;

  constructor(private readonly output: Writable) {}

  /** One message, in one or several parts; large ones are not copied. */
  write(message: readonly Buffer[], written?: Written): void {
    this.messagesOfTurn += 1;
    if (!this.turnEnds) {
      this.turnEnds = true;
      setImmediate(() => this.endTurn());
    }
    for (const part of message) {
      this.parts.push(part);
      this.bytes += part.length;
    }
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
    if (bytes <= JOIN_BYTES) {
      this.output.write(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts, bytes), written);
      return;
    }
    this.output.cork();
    for (const part of parts.slice(0, -1)) this.output.write(part);
    this.output.write(parts.at(-1), written);
    this.output.uncork();
  }

  private endTurn(): void {
    this.turnEnds = false;
    this.manyAtOnce = this.messagesOfTurn > 1;
    this.messagesOfTurn = 0;
    this.flush();
  }
}

function tellAll(waiting: readonly Written[]): Written {
  return (error) => {
    for (const written of waiting) written(error);
  };
}
