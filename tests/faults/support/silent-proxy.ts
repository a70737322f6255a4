import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** How both transports name the session that a request or its answer belongs to. */
const SESSION = /(?:mcp-session-id: |sessionId=)([\w-]+)/i;

interface Pair {
  silent: boolean;
  near: Socket;
  far: Socket;
  session: string | undefined;
}

/** A way to a server that can become what a broken network is: connections that stay open and carry nothing. */
export class SilentProxy {
  private readonly server: Server;
  private readonly pairs = new Set<Pair>();
  private isMute = false;

  /** `target` may change while it runs. */
  constructor(public target: number) {
    this.server = createServer((near) => this.join(near));
  }

  async open(): Promise<number> {
    await new Promise<void>((ready) => this.server.listen(0, '127.0.0.1', ready));
    return (this.server.address() as AddressInfo).port;
  }

  /**
   * MCP sessions with a socket that is open. What a client keeps for its next request belongs to the session of its last;
   * a socket on which no session was named yet counts as one.
   */
  get sessions(): string[] {
    const named = [...this.pairs].map(({ session }, index) => session ?? `none yet ${index}`);
    return [...new Set(named)];
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
    const pair: Pair = { silent: this.isMute, near, far, session: undefined };
    this.pairs.add(pair);
    const carry = (from: Socket, to: Socket) => {
      // It is read all the same: an end would else not be noticed.
      from.on('data', (chunk: Buffer) => {
        pair.session ??= SESSION.exec(chunk.toString('latin1'))?.[1];
        if (!pair.silent) to.write(chunk);
      });
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
