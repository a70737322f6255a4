import { type ChildProcess, spawn } from 'node:child_process';
import type { Server, Socket } from 'node:net';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { forward, ORCHESTRATOR_PORT, type OrchestratorAddress } from './forward.js';
import { findProgram } from './programs.js';
import type { SessionNetwork } from './sandbox.js';

const START_WITHIN_MS = 10_000;
const MAX_CONNECTIONS = 64;
/** One that no command is in is closed after so long. */
const IDLE_MS = 5 * 60_000;
const LOOK_EVERY_MS = 30_000;

/** Opens the port inside, hands it out to the process that answers there, and ends: it would answer as well. */
const OPEN_PORT = `
const server = require('node:net').createServer();
server.listen(${ORCHESTRATOR_PORT}, '127.0.0.1', () =>
  process.send({ pid: process.ppid }, server, () => process.exit()));
`;

interface Network extends SessionNetwork {
  holder: ChildProcess;
  server: Server;
  sockets: Set<Socket>;
  users: number;
  idleSince: number;
}

/**
 * A network for each session that may reach the orchestrator: a namespace with a loopback of its own, where one port
 * leads to the orchestrator and nothing else is. Commands of one session meet there, so that one finds the server that
 * another started. A small process keeps it; what comes to the port is accepted here, outside.
 */
export class SessionNetworks {
  private readonly networks = new Map<string, Promise<Network>>();
  private readonly sweep = setInterval(() => void this.closeIdle(), LOOK_EVERY_MS).unref();

  constructor(private readonly target: () => OrchestratorAddress | undefined) {}

  /** Lets `use` work in the session's network, which stays while it does. */
  async within<T extends { ended: Promise<unknown> }>(
    sessionId: string,
    use: (network: SessionNetwork) => Promise<T>,
  ): Promise<T> {
    const network = await this.networkOf(sessionId);
    network.users += 1;
    const leave = () => {
      network.users -= 1;
      network.idleSince = performance.now();
    };
    try {
      const started = await use(network);
      started.ended.then(leave, leave);
      return started;
    } catch (thrown) {
      leave();
      throw thrown;
    }
  }

  async endSession(sessionId: string): Promise<void> {
    const opening = this.networks.get(sessionId);
    this.networks.delete(sessionId);
    await opening?.then(end, () => undefined);
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    await Promise.all([...this.networks.keys()].map((sessionId) => this.endSession(sessionId)));
  }

  private networkOf(sessionId: string): Promise<Network> {
    const known = this.networks.get(sessionId);
    if (known) return known;
    const opening = this.open(() => {
      if (this.networks.get(sessionId) === opening) this.networks.delete(sessionId);
    });
    this.networks.set(sessionId, opening);
    opening.catch(() => this.networks.delete(sessionId));
    return opening;
  }

  private open(onLost: () => void): Promise<Network> {
    const program = findProgram('bwrap');
    if (!program) return Promise.reject(unavailable('bubblewrap is not installed'));
    const holder = spawn(
      program,
      [
        ...['--unshare-user-try', '--unshare-net', '--die-with-parent', '--dev-bind', '/', '/', '--'],
        ...['/bin/sh', '-c', '"$0" -e "$1"; exec sleep 2147483647', process.execPath, OPEN_PORT],
      ],
      { cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
    );
    return new Promise((resolve, reject) => {
      let said = '';
      holder.stderr?.on('data', (chunk) => (said = `${said}${chunk}`.slice(-500)));
      const failed = (reason: string) => {
        clearTimeout(late);
        holder.kill('SIGKILL');
        reject(unavailable(said.trim() || reason));
      };
      const late = setTimeout(() => failed('it did not start in time'), START_WITHIN_MS);
      holder.once('error', (error) => failed(messageOf(error)));
      holder.once('exit', () => {
        failed('it ended at once');
        onLost();
      });
      holder.once('message', (message: { pid: number }, server) => {
        clearTimeout(late);
        const sockets = new Set<Socket>();
        const port = server as Server;
        port.maxConnections = MAX_CONNECTIONS;
        port.on('connection', (socket) => forward(socket, this.target(), sockets));
        port.unref();
        holder.unref();
        holder.channel?.unref();
        resolve({
          pid: message.pid,
          holder,
          server: port,
          sockets,
          users: 0,
          idleSince: performance.now(),
        });
      });
    });
  }

  private async closeIdle(): Promise<void> {
    for (const [sessionId, opening] of this.networks) {
      const network = await opening.catch(() => undefined);
      if (network?.users === 0 && performance.now() - network.idleSince > IDLE_MS)
        await this.endSession(sessionId);
    }
  }
}

async function end({ holder, server, sockets }: Network): Promise<void> {
  for (const socket of sockets) socket.destroy();
  server.close();
  if (holder.exitCode !== null || holder.signalCode !== null) return;
  const gone = new Promise((resolve) => holder.once('exit', resolve));
  holder.kill('SIGKILL');
  await gone;
}

function unavailable(reason: string): AppError {
  return new AppError('SANDBOX_UNAVAILABLE', `The session's network could not be made: ${reason}.`);
}
