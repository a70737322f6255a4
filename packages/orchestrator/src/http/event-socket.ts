import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '@mcpbridge/shared/errors.js';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Gate } from '../auth/gate.js';
import type { EventBus } from '../events/event-bus.js';
import type { Follower } from '../events/follower.js';
import { followOptions } from './event-follow.js';
import { socketSink } from './event-sinks.js';
import { asAppError } from './reply.js';

const PATH = '/api/events/ws';
const PING_EVERY_MS = 15_000;

interface SocketDeps {
  gate: Gate;
  bus: EventBus;
  lost(): number;
}

/** `/api/events/ws`: the events over a WebSocket, of which a browser may have many open at once. */
export class EventSocket {
  private readonly server = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024 });
  private readonly pinging = setInterval(() => this.ping(), PING_EVERY_MS).unref();
  private readonly silent = new WeakSet<WebSocket>();

  constructor(private readonly deps: SocketDeps) {}

  /** For both doors: every request that asks for another protocol. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => {
      // The other end is gone; "close" follows.
    });
    try {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const { gate } = this.deps;
      gate.checkOrigin(request);
      if (url.pathname !== PATH || request.headers.upgrade?.toLowerCase() !== 'websocket')
        throw new AppError('NOT_FOUND', `Only ${PATH} speaks another protocol, and that is WebSocket.`);
      const options = followOptions(Object.fromEntries(url.searchParams));
      const open = () => {
        if (!gate.principalOf(request, 'page').isAdmin)
          throw new AppError('FORBIDDEN', `Only the owner may follow ${PATH}.`);
        this.server.handleUpgrade(request, socket, head, (opened) => this.follow(opened, options));
      };
      const admitted = gate.admit(request);
      if (admitted) admitted.then(open).catch((thrown) => refuse(socket, asAppError(thrown)));
      else open();
    } catch (thrown) {
      refuse(socket, asAppError(thrown));
    }
  };

  close(): void {
    clearInterval(this.pinging);
    for (const client of this.server.clients) client.terminate();
    this.server.close();
  }

  private follow(socket: WebSocket, options: Parameters<EventBus['follow']>[1]): void {
    let follower: Follower | undefined;
    const sink = socketSink(socket, this.deps, () => follower?.wake());
    follower = this.deps.bus.follow(sink, options);
    socket.on('close', () => follower?.end());
    socket.on('error', () => socket.terminate());
    socket.on('pong', () => this.silent.delete(socket));
  }

  /** One that did not answer the last ping is gone. */
  private ping(): void {
    for (const client of this.server.clients) {
      if (this.silent.has(client)) client.terminate();
      else {
        this.silent.add(client);
        client.ping();
      }
    }
  }
}

function refuse(socket: Duplex, error: AppError): void {
  const body = JSON.stringify({ success: false, error: error.toBody() });
  socket.end(
    `HTTP/1.1 ${error.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
