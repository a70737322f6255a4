import { isObject, isResponse, type RpcId } from '@mcpbridge/shared/json-rpc.js';
import { BrokenOff, collect, type Incoming } from './attempt.js';
import type { Answer } from './connection.js';
import { EventReader } from './event-reader.js';
import { bridgeFailure } from './failure.js';

/** Hears each message of an answer as it comes, in the pieces that it came in. */
export type OnMessage = (parts: Buffer[]) => void;

/**
 * Reads an answer of `/mcp` to the end, without looking into it, and answers the message that replied to `id`;
 * undefined when there was none (202, or a stream that ended without). Rejects with BrokenOff when it broke before.
 */
export async function receive(
  answer: Answer,
  id: RpcId,
  onMessage: OnMessage,
): Promise<Buffer[] | undefined> {
  const { status, headers, stream } = answer;
  const type = String(headers['content-type'] ?? '');
  if (type.startsWith('text/event-stream')) return receiveEvents(stream, id, onMessage);
  const parts = await collect(stream);
  if (status === 202 || parts.length === 0) return undefined;
  if (!/^application\/([\w.-]+\+)?json/.test(type)) {
    throw bridgeFailure(
      'INVALID_REQUEST',
      `The answer is ${type || 'of no type'}, not MCP. Is MCP_API_URL the address of an orchestrator?`,
    );
  }
  onMessage(parts);
  return parts;
}

/** Reads a stream of events to its end; rejects with BrokenOff when it breaks. */
export function readEvents(stream: Incoming, reader: EventReader): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.read({
      onPart: (part) => reader.push(part),
      onEnd: resolve,
      onBreak: (error) => reject(new BrokenOff(error.message, true)),
    });
  });
}

async function receiveEvents(
  stream: Incoming,
  id: RpcId,
  onMessage: OnMessage,
): Promise<Buffer[] | undefined> {
  let last: Buffer | undefined;
  const reader = new EventReader(({ data }) => {
    last = data;
    onMessage([data]);
  });
  let broken: unknown;
  await readEvents(stream, reader).catch((error) => (broken = error));
  if (last && isReplyTo(last, id)) return [last];
  if (broken) throw broken;
  return undefined;
}

function isReplyTo(data: Buffer, id: RpcId): boolean {
  try {
    const message: unknown = JSON.parse(data.toString('utf8'));
    return isObject(message) && isResponse(message) && message.id === id;
  } catch {
    // Cut off in its middle, or never JSON: no reply in either case.
    return false;
  }
}
