import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { DockerTransportEntry } from '../../../config/server-entry.js';
import type { Log } from '../../../log.js';
import type { ContainerEnd, Engine } from './engine.js';
import { isGone } from './failure.js';
import { guardOf } from './guard.js';
import { settlesWithin } from './settles-within.js';

const AFTER_STDIN_END_MS = 500;
const AFTER_TERM_MS = 1000;
const REMOVE_AGAIN_MS = 5000;
/** An engine that does not answer keeps nobody from ending. */
const AT_MOST_MS = 10_000;

interface ContainerOptions {
  server: string;
  entry: DockerTransportEntry;
  labels: Record<string, string>;
  log: Log;
}

export interface Started {
  /** Its stdin, and its stdout and stderr in frames. */
  stream: Duplex;
  /** After the last of its output: how its program ended, undefined when it goes on without; rejects when the engine does not say. */
  ended: Promise<ContainerEnd | undefined>;
}

/** One container, from before it is made until it is removed. */
export class Container {
  private id: Promise<string> | undefined;
  private stream: Duplex | undefined;
  private ending: Promise<void> | undefined;
  private ended: Promise<ContainerEnd | undefined> | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly options: ContainerOptions,
  ) {}

  async start(): Promise<Started> {
    const { server, entry, labels } = this.options;
    guardOf(this.engine.address).hold();
    const name = `mcpbridge-${server.replace(/[^A-Za-z0-9_.-]/g, '-')}-${randomUUID().slice(0, 8)}`;
    this.id = this.engine.create(name, entry, labels);
    const id = await this.id;
    this.stream = await this.engine.attach(id);
    const closed = new Promise((resolve) => this.stream?.once('close', resolve));
    // Its close follows, which is all that matters.
    this.stream.on('error', (error) => this.options.log.debug(`Server "${server}": ${error.message}`));
    await this.engine.start(id);
    this.ended = closed.then(() => this.engine.endOf(id));
    this.ended.catch(() => {
      // Who waits for it hears of it.
    });
    return { stream: this.stream, ended: this.ended };
  }

  /** Waits a moment for its end by itself, asks, insists; resolves when it is removed. */
  end(): Promise<void> {
    this.ending ??= this.endInSteps();
    return this.ending;
  }

  private async endInSteps(): Promise<void> {
    // Read to its end, or it does not tell of it.
    this.stream?.resume().end();
    await settlesWithin(this.removeMade(), AT_MOST_MS);
    this.stream?.destroy();
  }

  /** It may still be in the making: what comes of it has to go as well. */
  private async removeMade(): Promise<void> {
    const id = await this.id?.catch(() => undefined);
    if (id === undefined) {
      guardOf(this.engine.address).release();
      return;
    }
    if (this.ended) await this.endProgram(id, this.ended);
    await this.remove(id);
  }

  private async endProgram(id: string, ended: Promise<unknown>): Promise<void> {
    if (await settlesWithin(ended, AFTER_STDIN_END_MS)) return;
    await this.engine.signal(id, 'SIGTERM').catch(() => {
      // It ended in this moment, or the engine is gone; the removal finds out.
    });
    await settlesWithin(ended, AFTER_TERM_MS);
  }

  private async remove(id: string): Promise<void> {
    const { server, log } = this.options;
    try {
      await this.engine.remove(id);
    } catch (error) {
      if (!isGone(error)) {
        log.warn(
          `Server "${server}": its container ${id.slice(0, 12)} is not removed yet: ${messageOf(error)}`,
        );
        setTimeout(() => void this.remove(id), REMOVE_AGAIN_MS).unref();
        return;
      }
    }
    guardOf(this.engine.address).release();
  }
}
