import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { BridgeConfig } from 'mcpbridge/client-config.js';
import type { ClientDriver, Start } from './clients/driver.js';
import { DRIVERS } from './clients/drivers.js';
import { EventQueue } from './event-queue.js';
import { GroupedProcess } from './grouped-process.js';
import type { AgentEvent, ClientName, Launched, LaunchOptions, LaunchResult } from './launch-types.js';
import type { PrivateFolder } from './private-folder.js';
import { inheritedEnvironment } from './settings.js';

/** @throws CONFIG_INVALID for a client that is not known here. */
export function launchClient(
  client: ClientName,
  entry: BridgeConfig,
  folder: PrivateFolder,
  options: LaunchOptions,
): Launched {
  const driver = DRIVERS[client];
  if (driver) return new ClientRun(driver, entry, folder, options);
  const known = Object.keys(DRIVERS).join(', ');
  throw new AppError('CONFIG_INVALID', `There is no client "${client}" to launch; there are ${known}.`);
}

class ClientRun implements Launched {
  readonly result: Promise<LaunchResult>;
  private readonly events = new EventQueue<AgentEvent>();
  private readonly running = new Set<GroupedProcess>();
  private isClosed = false;
  private lastText: string | undefined;
  private lastError: string | undefined;

  constructor(
    private readonly driver: ClientDriver,
    entry: BridgeConfig,
    folder: PrivateFolder,
    private readonly options: LaunchOptions,
  ) {
    const { signal } = options;
    const abort = () => void this.close();
    signal?.addEventListener('abort', abort, { once: true });
    this.isClosed = signal?.aborted ?? false;
    this.result = this.run(entry, folder).finally(() => {
      signal?.removeEventListener('abort', abort);
      this.events.end();
    });
    // Who only reads the events hears of the failure there.
    this.result.catch(() => undefined);
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
    return this.events[Symbol.asyncIterator]();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.running].map((process) => process.end()));
    await this.result.catch(() => undefined);
  }

  private async run(entry: BridgeConfig, folder: PrivateFolder): Promise<LaunchResult> {
    try {
      const { prompt, args = [], env } = this.options;
      const ask = (words: string[]) => this.ask(words);
      const given = { ...inheritedEnvironment(), ...env };
      const start = await this.driver.prepare({ prompt, entry, folder, env: given, ask });
      await this.follow({ ...start, args: [...start.args, ...args] });
      if (this.lastText !== undefined && this.lastError === undefined) return { text: this.lastText };
      throw this.failed(this.lastError ?? 'ended without an answer');
    } catch (error) {
      if (this.lastError === undefined) this.tell({ type: 'error', message: messageOf(error), raw: null });
      throw error;
    }
  }

  private async follow(start: Start): Promise<void> {
    const read = this.driver.reader();
    await this.spawned(start, async (stdout) => {
      for await (const line of createInterface({ input: stdout })) {
        const said = parse(line);
        if (said) for (const event of read(said)) this.tell(event);
      }
    });
  }

  private async ask(args: string[]): Promise<unknown> {
    const said = await this.spawned({ args }, text);
    try {
      return JSON.parse(said);
    } catch (cause) {
      const message = `answered no JSON to \`${args.join(' ')}\`: ${said.slice(0, 200)}`;
      throw this.failed(message, { cause });
    }
  }

  /** Runs the CLI to its end and answers what was made of its stdout. */
  private async spawned<T>(
    { args, stdin = '', env }: Start,
    consume: (stdout: Readable) => Promise<T>,
  ): Promise<T> {
    if (this.isClosed) throw this.failed('was closed before it started');
    const { cwd, env: more } = this.options;
    const whole = { ...inheritedEnvironment(), ...more, ...env };
    const running = await GroupedProcess.start(this.driver.command, args, { cwd, env: whole, stdin }).catch(
      (cause) => {
        const message = `could not be started (${messageOf(cause)}): is it on PATH, and is its folder there?`;
        throw this.failed(message, { cause });
      },
    );
    this.running.add(running);
    if (this.isClosed) void running.end();
    try {
      const outcome = await consume(running.stdout);
      const { code, signal, words } = await running.ending;
      if (this.isClosed) throw this.failed('was closed');
      if (code === 0) return outcome;
      const said = this.lastError ?? words;
      throw this.failed(`ended with ${code ?? signal}${said && `: ${said}`}`);
    } finally {
      await running.end();
      this.running.delete(running);
    }
  }

  private tell(event: AgentEvent): void {
    if (event.type === 'text' || event.type === 'final') this.lastText = event.text;
    if (event.type === 'error') this.lastError = event.message;
    else if (event.type === 'final') this.lastError = undefined;
    this.events.put(event);
  }

  private failed(why: string, options?: { cause: unknown }): AppError {
    return new AppError('CLIENT_FAILED', `${this.driver.command} ${why}.`, options);
  }
}

/** CLIs print notices among their lines of JSON. */
function parse(line: string): JsonObject | undefined {
  try {
    const said: unknown = JSON.parse(line);
    return isObject(said) ? said : undefined;
  } catch {
    return undefined;
  }
}
