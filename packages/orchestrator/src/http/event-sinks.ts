import type { ServerResponse } from 'node:http';
import type { CallRow } from '@mcpbridge/shared/call-row.js';
import type { WebSocket } from 'ws';
import type { Sink } from '../events/follower.js';
import { VERSION } from '../version.js';

/** Bytes that a watcher may leave unread before it is given no more. */
const UNREAD_BYTES = 256 * 1024;

interface House {
  lost(): number;
}

/** Messages over a WebSocket (shared/events.ts: StreamMessage). */
export function socketSink(socket: WebSocket, { lost }: House, wake: () => void): Sink {
  const send = (text: string) =>
    socket.send(text, () => {
      if (socket.bufferedAmount < UNREAD_BYTES) wake();
    });
  return {
    hello: (seq, running) => send(JSON.stringify({ hello: hello(seq, running, lost()) })),
    send: (events, place, head) =>
      send(`{"seq":${place},"head":${head},"events":[${events.map(({ text }) => text).join()}]}`),
    get isReady() {
      return socket.readyState === socket.OPEN && socket.bufferedAmount < UNREAD_BYTES;
    },
    close: () => socket.close(1001),
  };
}

/** Server-sent events: `hello`, then one event each with its number as id. */
export function eventStreamSink(response: ServerResponse, { lost }: House, wake: () => void): Sink {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  response.on('drain', wake);
  return {
    hello: (seq, running) =>
      void response.write(
        `id: ${seq}\nevent: hello\ndata: ${JSON.stringify(hello(seq, running, lost()))}\n\n`,
      ),
    // Without data it is no event, and only moves the place from which a client resumes.
    send: (events, place) =>
      void response.write(
        `${events.map(({ event, text }) => `id: ${event.seq}\nevent: ${event.type}\ndata: ${text}\n\n`).join('')}id: ${place}\n\n`,
      ),
    get isReady() {
      return !response.destroyed && response.writableLength < UNREAD_BYTES;
    },
    close: () => void response.end(),
  };
}

function hello(seq: number, running: CallRow[], lost: number) {
  return { seq, now: Date.now(), version: VERSION, running, lost };
}
