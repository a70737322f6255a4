import { randomBytes, timingSafeEqual } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { kindOfAddress } from '../../outgoing/addresses.js';

/** Between two hops alone. */
const HOP = ['proxy-authorization', 'proxy-connection', 'connection', 'keep-alive'];

/**
 * The only way out of a browser: a proxy that looks a name up, judges the address, and connects to the one it judged. So
 * neither redirects, nor frames, nor names that change their address lead into private networks.
 */
export class Gateway {
  readonly username = 'browser';
  readonly password = randomBytes(24).toString('base64url');
  private readonly authorization = Buffer.from(
    `Basic ${Buffer.from(`${this.username}:${this.password}`).toString('base64')}`,
  );
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();
  private opened: Promise<string> | undefined;

  /** `allowed`: names or addresses, also with a port, that may be private. */
  constructor(private readonly allowed: readonly string[]) {
    this.server = createServer((incoming, response) => void this.plain(incoming, response));
    this.server.on('connect', (incoming, socket) => void this.tunnel(incoming, socket));
    this.server.on('connection', (socket) => this.hold(socket));
  }

  /** Its address; it listens from the first call on. */
  open(): Promise<string> {
    this.opened ??= new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(0, '127.0.0.1', () => {
        this.server.unref();
        resolve(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}`);
      });
    });
    return this.opened;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (this.opened) await new Promise((resolve) => this.server.close(resolve));
  }

  /** Rejects with a sentence when the browser may not go there. */
  async addressOf(hostname: string, port: number): Promise<string> {
    const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
    const found = isIP(host) ? [host] : await addressesOf(host);
    const isAllowed =
      this.allowed.includes(host) || this.allowed.includes(`${hostname.toLowerCase()}:${port}`);
    const usable = isAllowed ? found : found.filter((address) => kindOfAddress(address) === 'public');
    const [address] = usable;
    if (address !== undefined) return address;
    throw new Error(
      `${hostname}:${port} is not a public address, so the browser does not go there; the operator can allow it with BROWSER_ALLOWED_HOSTS`,
    );
  }

  private isOurs({ headers }: IncomingMessage): boolean {
    const given = Buffer.from(headers['proxy-authorization'] ?? '');
    return given.length === this.authorization.length && timingSafeEqual(given, this.authorization);
  }

  private async plain(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (!this.isOurs(incoming)) {
        response.writeHead(407, { 'proxy-authenticate': 'Basic realm="browser"' }).end();
        return;
      }
      const { hostname, port, pathname, search } = new URL(incoming.url ?? '');
      const host = await this.addressOf(hostname, Number(port || 80));
      const headers = { ...incoming.headers };
      for (const name of HOP) delete headers[name];
      const outgoing = request({
        host,
        port: port || 80,
        method: incoming.method,
        path: pathname + search,
        headers,
        agent: false,
      });
      outgoing.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      outgoing.on('error', (error) => refuse(response, error));
      response.on('close', () => outgoing.destroy());
      incoming.pipe(outgoing);
    } catch (error) {
      refuse(response, error);
    }
  }

  private async tunnel(incoming: IncomingMessage, socket: Duplex): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      if (!this.isOurs(incoming)) {
        socket.end(
          'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="browser"\r\n\r\n',
        );
        return;
      }
      const { hostname, port } = new URL(`http://${incoming.url}`);
      const number = Number(port || 80);
      const outgoing = connect({ host: await this.addressOf(hostname, number), port: number });
      this.hold(outgoing);
      outgoing.on('connect', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        outgoing.pipe(socket).pipe(outgoing);
      });
      outgoing.on('error', () => socket.destroy());
      outgoing.on('close', () => socket.destroy());
      socket.on('close', () => outgoing.destroy());
    } catch {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    }
  }

  private hold(socket: Duplex): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
  }
}

async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (cause) {
    throw new Error(`There is no host "${host}", or its name cannot be looked up`, { cause });
  }
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(403, { 'content-type': 'text/plain' }).end(`Refused: ${messageOf(error)}`);
}
