import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can become what a broken network is: connections that stay open and carry nothing. */
export class SilentProxy {
  private readonly server: Server;
  private readonly pairs = new Set<{ silent: boolean; near: Socket; far: Socket }>();
  private isMute = false;

  /** `target` may change while it runs. */
  constructor(public target: number) {
    this.server = createServer((near) => this.join(near));
  }

  async open(): Promise<number> {
    await new Promise<void>((ready) => this.server.listen(0, '127.0.0.1', ready));
    return (this.server.address() as AddressInfo).port;
  }

  /** Connections towards the server's clients. */
  get connections(): number {
    return this.pairs.size;
  }

  /** What is open carries nothing any more, in either direction, and is not closed. */
  silence(): void {
    for (const pair of this.pairs) pair.silent = true;
  }

  /** Also what comes from now on, until `heal`. */
  mute(): void {
    this.isMute = true;
    this.silence();
  }

  /** New connections work again. */
  heal(): void {
    this.isMute = false;
  }

  close(): void {
    this.server.close();
    for (const { near, far } of this.pairs) {
      near.destroy();
      far.destroy();
    }
  }

  private join(near: Socket): void {
    const far = createConnection(this.target, '127.0.0.1');
    const pair = { silent: this.isMute, near, far };
    this.pairs.add(pair);
    const carry = (from: Socket, to: Socket) => {
      // It is read all the same: an end would else not be noticed.
      from.on('data', (chunk) => pair.silent || to.write(chunk));
      from.on('end', () => pair.silent || to.end());
      from.on('error', () => {
        // Both ends are closed below.
      });
    };
    carry(near, far);
    carry(far, near);
    far.on('close', () => pair.silent || near.destroy());
    near.on('close', () => {
      this.pairs.delete(pair);
      far.destroy();
    });
  }
}
