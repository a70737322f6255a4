import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A cable between the browser and the orchestrator that can be pulled out and put in again. */
export class Cable {
  private readonly sockets = new Set<Socket>();
  private isIn = true;

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    readonly port: number,
  ) {}

  static async to(port: number): Promise<Cable> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const cable = new Cable(server, (server.address() as AddressInfo).port);
    server.on('connection', (socket) => cable.join(socket, port));
    return cable;
  }

  pull(): void {
    this.isIn = false;
    for (const socket of this.sockets) socket.destroy();
  }

  plug(): void {
    this.isIn = true;
  }

  close(): void {
    this.pull();
    this.server.close();
  }

  private join(socket: Socket, port: number): void {
    if (!this.isIn) {
      socket.destroy();
      return;
    }
    const other = connect(port, '127.0.0.1');
    for (const [one, two] of [
      [socket, other],
      [other, socket],
    ] as const) {
      this.sockets.add(one);
      one.pipe(two);
      one.on('error', () => two.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        two.destroy();
      });
    }
  }
}
