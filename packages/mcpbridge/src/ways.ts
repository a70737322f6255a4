import { existsSync } from 'node:fs';
import { LocalWay } from './local-way.js';
import { TcpWay } from './tcp-way.js';
import type { Way } from './way.js';

/** The ways to try in turn: the Unix socket of the same user's orchestrator while there is one, then TCP. */
export class Ways {
  private readonly tcp: Way;
  private readonly local: Way | undefined;
  private known: readonly Way[] | undefined;

  constructor(
    base: URL,
    private readonly socket: string | undefined,
  ) {
    this.tcp = new TcpWay(base);
    this.local = socket ? new LocalWay(socket) : undefined;
  }

  /** In the order in which they are to be tried. */
  now(): readonly Way[] {
    if (this.known) return this.known;
    // Looked for anew each time: an orchestrator that starts opens TCP a moment before its socket.
    if (this.socket && !existsSync(this.socket)) return [this.tcp];
    this.known = this.local ? [this.local, this.tcp] : [this.tcp];
    return this.known;
  }

  /** A way that led there is the first to be tried from now on. */
  prefer(way: Way): void {
    if (this.known && this.known[0] !== way)
      this.known = [way, ...this.known.filter((other) => other !== way)];
  }

  /** None led there: an orchestrator that starts makes its socket again. */
  forget(): void {
    this.known = undefined;
  }
}
