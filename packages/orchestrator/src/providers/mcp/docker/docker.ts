import type { Duplex } from 'node:stream';
import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import type { RpcMessage } from '@mcpbridge/shared/json-rpc.js';
import { TurnWriter } from '@mcpbridge/shared/turn-writer.js';
import type { DockerTransportEntry } from '../../../config/server-entry.js';
import { orAborted } from '../abort.js';
import { readPaced } from '../bounds/paced.js';
import { messageReader, programEnded, wordReader } from '../stdio/server-output.js';
import type { Transport, TransportContext, TransportEvents } from '../transport.js';
import { engineAddress } from './address.js';
import { Container, type Started } from './container.js';
import { type ContainerEnd, Engine } from './engine.js';
import { containerFailure } from './failure.js';
import { FrameReader } from './frames.js';
import { removeLeftovers } from './leftovers.js';
import { labelsFor } from './owner.js';

const MIB = 1024 * 1024;
const SIGNALS: Record<number, string> = { 134: 'SIGABRT', 137: 'SIGKILL', 139: 'SIGSEGV', 143: 'SIGTERM' };

/** Runs the server in a container of its own, which is gone when the connection has ended. */
export async function openDocker(
  server: string,
  entry: DockerTransportEntry,
  context: TransportContext,
  signal: CancelSignal,
): Promise<Transport> {
  const { env, home, log } = context;
  const engine = new Engine(engineAddress(server, env));
  removeLeftovers(engine, home, log);
  const container = new Container(engine, { server, entry, labels: labelsFor(server, home), log });
  try {
    const started = await orAborted(container.start(), signal);
    return new DockerTransport(server, entry, container, started, context);
  } catch (error) {
    await container.end();
    throw error instanceof AppError ? error : containerFailure(server, entry.image, engine.address, error);
  }
}

class DockerTransport implements Transport {
  private events: TransportEvents | undefined;
  private readonly writer: TurnWriter;
  private readonly stream: Duplex;
  private readonly ended: Started['ended'];

  constructor(
    private readonly server: string,
    private readonly entry: DockerTransportEntry,
    private readonly container: Container,
    { stream, ended }: Started,
    private readonly context: TransportContext,
  ) {
    this.stream = stream;
    this.ended = ended;
    this.writer = new TurnWriter(stream);
  }

  listen(events: TransportEvents): void {
    this.events = events;
    const messages = messageReader(this.server, this.context, events);
    const words = wordReader(this.context.words);
    const frames = new FrameReader({
      stdout: (chunk) => messages.push(chunk),
      stderr: (chunk) => words.push(chunk),
    });
    readPaced(
      this.stream,
      (chunk) => frames.push(chunk),
      () => events.isFlooding,
    );
    this.stream.on('end', () => {
      messages.end();
      words.end();
    });
    void this.watch();
  }

  send(message: RpcMessage): void {
    if (this.stream.writable) this.writer.write(`${JSON.stringify(message)}\n`);
  }

  agreed(): void {}

  close(): Promise<void> {
    if (this.stream.writable) this.writer.flush();
    return this.container.end();
  }

  private async watch(): Promise<void> {
    const { how, details } = await this.ended.then(
      (end) => ({ how: howItEnded(end, this.entry.memoryBytes), details: { ...end } }),
      (error) => ({ how: `lost its container: ${messageOf(error).trim()}`, details: {} }),
    );
    void this.close();
    this.events?.closed(programEnded(this.server, how, this.context.words, details));
  }
}

function howItEnded(end: ContainerEnd | undefined, limit: number | undefined): string {
  if (!end) return 'closed its pipe';
  const { exitCode, outOfMemory } = end;
  const allowed = limit === undefined ? undefined : `"docker.memory" allows ${limit / MIB} MiB`;
  if (outOfMemory) return `was ended out of memory: ${allowed ?? 'the machine had no more'}`;
  const signal = SIGNALS[exitCode];
  // Podman does not always know what the kernel did.
  if (signal === 'SIGKILL' && allowed) return `was ended by SIGKILL, perhaps out of memory: ${allowed}`;
  return signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
}
