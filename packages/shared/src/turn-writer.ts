import type { Writable } from 'node:stream';

/** Up to here one copy is cheaper than a vector of writes. */
const JOIN_BYTES = 64 * 1024;

/**
 * Writes a lone message at once, since its caller waits for it, and joins what is written in one turn of the event
 * loop into one system call while many are under way.
 */
export class TurnWriter {
  private parts: Buffer[] = [];
  private bytes = 0;
  private messagesOfTurn = 0;
  private manyAtOnce = false;
  private turnEnds = false;

  constructor(private readonly output: Writable) {}

  /** One message, in one or several parts; large ones are not copied. */
  write(message: readonly Buffer[]): void {
    this.messagesOfTurn += 1;
    if (!this.turnEnds) {
      this.turnEnds = true;
      setImmediate(() => this.endTurn());
    }
    for (const part of message) {
      this.parts.push(part);
      this.bytes += part.length;
    }
    if (!this.manyAtOnce && this.messagesOfTurn === 1) this.flush();
  }

  flush(): void {
    const { parts, bytes } = this;
    this.parts = [];
    this.bytes = 0;
    if (bytes === 0) return;
    if (bytes <= JOIN_BYTES) {
      this.output.write(parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts, bytes));
      return;
    }
    this.output.cork();
    for (const part of parts) this.output.write(part);
    this.output.uncork();
  }

  private endTurn(): void {
    this.turnEnds = false;
    this.manyAtOnce = this.messagesOfTurn > 1;
    this.messagesOfTurn = 0;
    this.flush();
  }
}
