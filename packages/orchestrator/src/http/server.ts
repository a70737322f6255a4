import { chmodSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { AppError } from '@mcpbridge/shared/errors.js';
import { socketFile } from '@mcpbridge/shared/locate.js';
import findMyWay from 'find-my-way';
import type { Gate } from '../auth/gate.js';
import { sendError } from './reply.js';
import type { HotRoute } from './routes.js';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

interface RoadOptions {
  gate: Gate;
  hotRoutes: readonly HotRoute[];
  /** Everything that is not hot. */
  rest: Listener;
}

/**
 * The one listener: Host and Origin first, then the hot routes bare, then Express for the rest.
 * Express costs more than the call it would carry (DESIGN.md section 5).
 */
export function createRoad({ gate, hotRoutes, rest }: RoadOptions): Listener {
  const router = findMyWay({
    defaultRoute: rest,
    maxParamLength: 1000,
    onBadUrl: (path, _request, response) => sendError(response, badUrl(path)),
  });
  for (const route of hotRoutes) {
    router.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), (request, response, params) => {
      void carry(route, request, response, params);
    });
  }

  async function carry(
    route: HotRoute,
    request: IncomingMessage,
    response: ServerResponse,
    params: Record<string, string | undefined>,
  ) {
    try {
      await route.handle({ request, response, params, principal: gate.principalOf(request) });
    } catch (thrown) {
      sendError(response, thrown);
    }
  }

  return (request, response) => {
    try {
      gate.checkOrigin(request);
      router.lookup(request, response);
    } catch (thrown) {
      sendError(response, thrown);
    }
  };
}

function badUrl(path: string): AppError {
  return new AppError('INVALID_REQUEST', `The address ${JSON.stringify(path)} is not well formed.`);
}

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
  private readonly closed: Promise<void>[] = [];

  constructor(private readonly listener: Listener) {}

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
    const server = createServer(SERVER_OPTIONS, this.listener);
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    this.servers.push(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      start(server, () => resolve(server));
    });
  }
}
