import { existsSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:http';

/** One way to an address: what node:http needs to take it. */
export interface Way {
  request: typeof request;
  options: RequestOptions;
  /** Value of the Host header. */
  host: string;
}

/** Idle sockets that are kept for the next burst of calls. */
const POOL = { keepAlive: true, maxFreeSockets: 64 };

/** The ways to try in turn: the Unix socket of the same user's orchestrator while there is one, then TCP. */
export class Ways {
  private readonly tcp: Way;
  private readonly local: Way | undefined;
  private known: readonly Way[] | undefined;

  constructor(
    base: URL,
    private readonly socket: string | undefined,
  ) {
    this.tcp = tcpWay(base);
    if (socket) {
      const options = { socketPath: socket, agent: new Agent(POOL) };
      this.local = { request, options, host: 'localhost' };
    }
  }

  /** In the order in which they are to be tried. */
  now(): readonly Way[] {
    this.known ??= this.local && this.socket && existsSync(this.socket) ? [this.local, this.tcp] : [this.tcp];
    return this.known;
  }

  /** A way that led there is the first to be tried from now on. */
  prefer(way: Way): void {
    if (this.known?.[0] !== way) this.known = [way, ...this.now().filter((other) => other !== way)];
  }

  /** None led there: an orchestrator that starts makes its socket again. */
  forget(): void {
    this.known = undefined;
  }
}

function tcpWay({ protocol, hostname, port, host }: URL): Way {
  const options = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port };
  if (protocol === 'http:') return { request, host, options: { ...options, agent: new Agent(POOL) } };
  // Loaded only here: it brings all of TLS, which most bridges never need.
  const https = process.getBuiltinModule('node:https');
  return { request: https.request, host, options: { ...options, agent: new https.Agent(POOL) } };
}
