import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { socketFile } from '@mcpbridge/shared/locate.js';
import { asksForChannels, ChannelConnection } from './channels.js';
import { FastLane } from './fast-lane.js';
import type { LaneConnection } from './lane-connection.js';
import type { Road } from './road.js';

const SERVER_OPTIONS: ServerOptions = {
  // No limits on how long a call may take: the one deadline is the pipeline's.
  requestTimeout: 0,
  // A bridge that calls nothing for an hour still holds its session by its idle connection; one that vanished without
  // a word is found out by TCP.
  keepAliveTimeout: 0,
  keepAlive: true,
  keepAliveInitialDelay: 60_000,
  noDelay: true,
};

/** Both doors of the house: TCP, and a Unix socket that only the same user can open. */
export class Doors {
  private readonly servers: Server[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly lanes = new Set<FastLane>();
  private readonly channelConnections = new Set<ChannelConnection>();
  private readonly closed: Promise<void>[] = [];
  private refusing = false;

  constructor(private readonly road: Road) {}

  /** Opens TCP and answers the port; then the socket file that belongs to it. */
  async open(host: string, port: number, home: string): Promise<{ port: number; socket: string }> {
    const tcp = await this.listen((server, ready) => server.listen(port, host, ready));
    tcp.on('upgrade', this.road.upgrade);
    const bound = (tcp.address() as AddressInfo).port;
    const socket = socketFile(home, bound);
    rmSync(socket, { force: true });
    const local = await this.listen((server, ready) => server.listen(socket, ready));
    local.on('upgrade', (request, socket, head) => this.upgradeLocal(request, socket, head));
    chmodSync(socket, 0o600);
    return { port: bound, socket };
  }

  /** No new connections; those that are open and idle end. A client finds nobody and waits for the next start. */
  async refuseNew(): Promise<void> {
    this.refusing = true;
    await whatHasCome();
    for (const server of this.servers) {
      this.closed.push(new Promise((resolve) => server.close(() => resolve())));
      server.closeIdleConnections();
    }
    for (const lane of this.lanes) lane.endWhenIdle();
    for (const connection of this.channelConnections) connection.endWhenIdle();
  }

  /** Waits for the answers under way to leave, then cuts what is still open. */
  async close(graceMs: number): Promise<void> {
    for (const server of this.servers) server.closeIdleConnections();
    const cut = setTimeout(() => {
      for (const socket of this.sockets) socket.destroy();
    }, graceMs);
    await Promise.all(this.closed);
    clearTimeout(cut);
  }

  private listen(start: (server: Server, ready: () => void) => void): Promise<Server> {
    const server = createServer(SERVER_OPTIONS, (request, response) => {
      // A connection that is in use would be kept, and its client never come to look for the next orchestrator.
      if (this.refusing) response.setHeader('connection', 'close');
      this.road.listener(request, response);
    });
    const [byNode] = server.listeners('connection') as [(this: Server, socket: Socket) => void];
    server.removeListener('connection', byNode);
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
      this.enterLane(socket, socket, (rest) => {
        // It reads on as if the bytes came only now.
        socket.pause();
        socket.unshift(rest);
        byNode.call(server, socket);
        process.nextTick(() => socket.resume());
      });
    });
    this.servers.push(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      start(server, () => resolve(server));
    });
  }

  private enterLane(connection: LaneConnection, socket: Socket, handOver: (rest: Buffer) => void): void {
    const { road, lanes } = this;
    const leave = () => lanes.delete(lane);
    const lane = new FastLane(connection, {
      socket,
      serveAt: road.serveAt,
      maxBodyBytes: road.maxBodyBytes,
      handOver: (rest) => {
        leave();
        handOver(rest);
      },
    });
    lanes.add(lane);
    connection.on('close', leave);
  }

  /** Channels are for programs of the same user: what comes by TCP may have come through a proxy, or from a browser. */
  private upgradeLocal(request: IncomingMessage, duplex: Duplex, head: Buffer): void {
    const socket = duplex as Socket;
    if (this.refusing || !asksForChannels(request)) {
      this.road.upgrade(request, socket, head);
      return;
    }
    const connection = new ChannelConnection(socket, (channel) =>
      // What the fast lane does not serve is for a connection that node:http can take over.
      this.enterLane(channel, socket, () => channel.end()),
    );
    this.channelConnections.add(connection);
    socket.on('close', () => this.channelConnections.delete(connection));
    connection.receive(head);
  }
}

/**
 * What has reached this machine by now is read when this resolves: the rest of a turn of the event loop, one that takes
 * the connections, one that reads from them. A connection that is ended with bytes unread loses a request.
 */
async function whatHasCome(): Promise<void> {
  for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
}
