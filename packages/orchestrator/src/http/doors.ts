import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { socketFile } from '@mcpbridge/shared/locate.js';
import { FastLane } from './fast-lane.js';
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
  private readonly closed: Promise<void>[] = [];

  constructor(private readonly road: Road) {}

  /** Opens TCP and answers the port; then the socket file that belongs to it. */
  async open(host: string, port: number, home: string): Promise<{ port: number; socket: string }> {
    const tcp = await this.listen((server, ready) => server.listen(port, host, ready));
    const bound = (tcp.address() as AddressInfo).port;
    const socket = socketFile(home, bound);
    rmSync(socket, { force: true });
    await this.listen((server, ready) => server.listen(socket, ready));
    chmodSync(socket, 0o600);
    return { port: bound, socket };
  }

  /** No new connections; those that are open and idle end. A client finds nobody and waits for the next start. */
  refuseNew(): void {
    for (const server of this.servers) {
      this.closed.push(new Promise((resolve) => server.close(() => resolve())));
      server.closeIdleConnections();
    }
    for (const lane of this.lanes) lane.endWhenIdle();
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
    const server = createServer(SERVER_OPTIONS, this.road.listener);
    const [byNode] = server.listeners('connection') as [(this: Server, socket: Socket) => void];
    server.removeListener('connection', byNode);
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
      this.enterLane(socket, (rest) => {
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

  private enterLane(socket: Socket, toNode: (rest: Buffer) => void): void {
    const { road, lanes } = this;
    const leave = () => lanes.delete(lane);
    const lane = new FastLane(socket, {
      serveAt: road.serveAt,
      maxBodyBytes: road.maxBodyBytes,
      handOver: (rest) => {
        leave();
        toNode(rest);
      },
    });
    lanes.add(lane);
    socket.once('close', leave);
  }
}
