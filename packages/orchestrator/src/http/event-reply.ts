import { callReply } from '@mcpbridge/shared/call-reply.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import type { CallListener } from '../providers/provider.js';
import type { HotResponse } from './exchange.js';
import { asAppError } from './reply.js';

/** A call's reply as server-sent events: `progress` and `log` as they happen, then one `result` or `error`. */
export class EventReply {
  readonly listener: CallListener = {
    progress: (params) => this.event('progress', params),
    notification: (notification) => this.event('log', notification.params ?? {}),
  };

  constructor(private readonly response: HotResponse) {
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
    });
    response.flushHeaders();
  }

  async carry(run: () => Promise<ToolResult>): Promise<void> {
    try {
      this.event('result', callReply(await run()));
    } catch (thrown) {
      this.event('error', asAppError(thrown).toBody());
    }
    this.response.end();
  }

  private event(name: string, data: unknown): void {
    if (!this.response.destroyed) this.response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
