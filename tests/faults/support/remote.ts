import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ended, eventually, fixture, startNode } from '../../support/processes.js';
import { SilentProxy } from './silent-proxy.js';

/** An HTTP upstream behind a proxy, by which its network can be broken and which leads to it again after a restart. */
export class Remote {
  private server: ChildProcess | undefined;
  private port = 0;
  private readonly trace = join(mkdtempSync(join(tmpdir(), 'mcpbridge-remote-')), 'trace');

  private constructor(readonly proxy: SilentProxy) {}

  static async start(): Promise<Remote> {
    const remote = new Remote(new SilentProxy(0));
    await remote.restart();
    remote.port = await remote.proxy.open();
    return remote;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}/${path}`;
  }

  async restart(): Promise<void> {
    await this.kill();
    const child = startNode(fixture('http-server.mjs'), [], { TRACE_FILE: this.trace });
    const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
    this.server = child;
    this.proxy.target = Number(new URL(String(line)).port);
  }

  signal(signal: NodeJS.Signals): void {
    this.server?.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    if (this.server) await ended(this.server);
  }

  /** How many calls of `hang` have begun at it. */
  get hanging(): number {
    return this.notes().split('started hang ').length - 1;
  }

  async began(before: number): Promise<void> {
    await eventually('the call has begun at the upstream', () => this.hanging > before);
  }

  async stop(): Promise<void> {
    await this.kill();
    this.proxy.close();
  }

  private notes(): string {
    try {
      return readFileSync(this.trace, 'utf8');
    } catch {
      // Nothing has happened yet.
      return '';
    }
  }
}
