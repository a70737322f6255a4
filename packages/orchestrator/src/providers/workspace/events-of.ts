import type { Readable } from 'node:stream';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';

/** The server-sent events of our own workspace: a name and one line of JSON each. */
export async function* eventsOf(stream: Readable): AsyncGenerator<{ name: string; data: JsonObject }> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const parts = `${rest}${decoder.decode(chunk as Buffer, { stream: true })}`.split('\n\n');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      const [, name = '', data = 'null'] = /^event: (.*)\ndata: (.*)$/s.exec(part) ?? [];
      yield { name, data: JSON.parse(data) };
    }
  }
}
