import type { ErrorBody } from '@mcpbridge/shared/errors.js';
import { RequestError } from './request';

export interface ServerEvent {
  event: string;
  id: string | undefined;
  data: unknown;
}

/** Server-sent events of one answer, until it ends; by `fetch`, so that it can be aborted and told where to go on. @throws RequestError */
export async function* serverEvents(
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const response = await fetch(path, {
    headers: { accept: 'text/event-stream', ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
    credentials: 'same-origin',
    signal,
  });
  if (!response.ok || !response.body) {
    const { error }: { error?: ErrorBody } = await response.json().catch(() => ({}));
    throw new RequestError(response.status, error?.code ?? '', error?.message ?? 'The events are not there.');
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = read(block);
      if (event) yield event;
    }
  }
}

function read(block: string): ServerEvent | undefined {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return { event: fields.get('event') ?? 'message', id: fields.get('id'), data: JSON.parse(data) };
}
