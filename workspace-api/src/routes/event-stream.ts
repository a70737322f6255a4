import type { ServerResponse } from 'node:http';
import { toAppError } from '@mcpbridge/shared/errors.js';

/** Bytes that may wait for a caller that reads slowly; the rest of what is printed comes with the result alone. */
const MAX_WAITING = 4 * 1024 * 1024;

/** Server-sent events of one command: `stdout` and `stderr` as they are printed, then one `result` or `error`. */
export class EventStream {
  constructor(private readonly response: ServerResponse) {}

  started(id: string): void {
    this.open();
    this.event('started', { id });
  }

  print(stream: 'stdout' | 'stderr', text: string): void {
    this.open();
    if (this.response.writableLength < MAX_WAITING) this.event(stream, { text });
  }

  /** A failure before anything was printed is an ordinary answer. */
  async finish(outcome: Promise<unknown>): Promise<void> {
    try {
      const result = await outcome;
      this.open();
      this.event('result', result);
    } catch (thrown) {
      if (!this.response.headersSent) throw thrown;
      this.event('error', toAppError(thrown).toBody());
    }
    this.response.end();
  }

  private open(): void {
    if (this.response.headersSent) return;
    this.response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
    });
  }

  private event(name: string, data: unknown): void {
    if (!this.response.destroyed) this.response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
