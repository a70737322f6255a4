import type { RpcMessage } from '@mcpbridge/shared/json-rpc.js';
import type { HotResponse } from '../http/exchange.js';
import { sendJson } from '../http/reply.js';
import { EventStream, type MessageStream } from './answer.js';

/**
 * The answer to the requests of one batch, as revision 2025-03-26 has them: an array of their answers, or for a client
 * that takes streams each as it comes.
 */
export class Batch {
  private readonly answers: RpcMessage[] = [];
  private readonly stream: EventStream | undefined;

  constructor(
    private readonly response: HotResponse,
    /** Requests that are still to be answered. */
    private open: number,
    mayStream: boolean,
  ) {
    if (mayStream) this.stream = new EventStream(response);
  }

  /** Where one of its requests is answered. */
  part(): MessageStream {
    return {
      send: (message) => {
        if (this.stream) this.stream.send(message);
        else if (!('method' in message)) this.answers.push(message);
      },
      end: () => this.partEnded(),
    };
  }

  private partEnded(): void {
    this.open -= 1;
    if (this.open > 0) return;
    if (this.stream) this.stream.end();
    else sendJson(this.response, 200, this.answers);
  }
}
