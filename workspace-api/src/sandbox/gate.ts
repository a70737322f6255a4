import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { forward, type OrchestratorAddress } from './forward.js';
import type { GateData } from './gate-thread.js';

const MAX_CONNECTIONS = 512;

/**
 * The way to the orchestrator for commands without a network namespace. Their system refuses every connection and asks
 * us; where the address is the orchestrator's, the command gets one that was made for it, to the port that is opened
 * here. That port leads to the orchestrator and nowhere else.
 */
export class Gate {
  private readonly sockets = new Set<Socket>();
  private port: Promise<number> | undefined;
  private readonly server = createServer((socket) => forward(socket, this.target(), this.sockets));

  constructor(private readonly target: () => OrchestratorAddress | undefined) {
    this.server.maxConnections = MAX_CONNECTIONS;
    this.server.unref();
  }

  /** Answers what a jail's system asks; ends by itself when the jail and all that it started are gone. */
  async watch(listener: number): Promise<void> {
    this.port ??= this.open();
    const data: GateData = { listener, port: await this.port };
    const thread = new Worker(new URL('./gate-thread.js', import.meta.url), {
      workerData: data,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    });
    thread.unref();
    // Commands whose connections nobody answers would wait for ever, so it closes what they ask through when it fails.
    thread.on('error', () => undefined);
    await once(thread, 'message');
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private async open(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }
}
