import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type RpcMessage } from '@mcpbridge/shared/json-rpc.js';
import { markedEnvironment, ProcessGroup } from '@mcpbridge/shared/process-group.js';
import { TurnWriter } from '@mcpbridge/shared/turn-writer.js';
import type { StdioTransportEntry } from '../../../config/server-entry.js';
import { Allowance } from '../bounds/allowance.js';
import { readPaced } from '../bounds/paced.js';
import type { Transport, TransportContext, TransportEvents } from '../transport.js';
import { childEnvironment } from './child-environment.js';
import { messageReader, programEnded, wordReader } from './server-output.js';

/** After a sign of the end, the time for all else that is to be heard of it. */
const SETTLE_MS = 200;
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** Of stderr, in KiB. */
const WORDS_PER_SECOND = 5 * 1024;
/** What a system says that has no more of something, and what helps. */
const NOTHING_LEFT = new Map([
  ['EMFILE', 'the orchestrator may open no more files; start it again with a higher limit (ulimit -n).'],
  ['ENFILE', 'the machine has no more open files to give; raise fs.file-max.'],
  [
    'EAGAIN',
    'this user may run no more processes; raise the limit (ulimit -u, or pids.max of its control group).',
  ],
  ['ENOMEM', 'the machine has no memory left for it; end something else, or stop servers that nobody uses.'],
]);

/** Starts the server's process in a group of its own, without a shell. */
export async function openStdio(
  server: string,
  entry: StdioTransportEntry,
  context: TransportContext,
): Promise<Transport> {
  const mark = markedEnvironment();
  try {
    const child = spawn(entry.command, entry.args, {
      cwd: entry.cwd,
      env: { ...childEnvironment(context.env, entry.env), ...mark },
      detached: process.platform !== 'win32',
      stdio: 'pipe',
      windowsHide: true,
    });
    const id = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', () => resolve(child.pid ?? 0));
    });
    return new StdioTransport(server, child, new ProcessGroup(child, id, mark), context);
  } catch (error) {
    throw new AppError('PROVIDER_UNAVAILABLE', `Server "${server}": ${whyNotStarted(entry, error)}`, {
      cause: error,
    });
  }
}

function whyNotStarted({ command, cwd }: StdioTransportEntry, error: unknown): string {
  const code = isObject(error) ? error.code : undefined;
  if (code === 'ENOENT' && cwd !== undefined && !existsSync(cwd))
    return `its folder "${cwd}" does not exist.`;
  if (code === 'ENOENT') return `the command "${command}" was not found; is it installed and on PATH?`;
  if (code === 'EACCES')
    return `the command "${command}" may not be run: it is not executable for this user.`;
  const why = NOTHING_LEFT.get(String(code)) ?? `${messageOf(error)}.`;
  return `the command "${command}" could not be started: ${why}`;
}

class StdioTransport implements Transport {
  private events: TransportEvents | undefined;
  private readonly writer: TurnWriter;
  private readonly spoken = new Allowance(WORDS_PER_SECOND);
  private finished = false;

  constructor(
    private readonly server: string,
    private readonly child: ChildProcessWithoutNullStreams,
    private readonly group: ProcessGroup,
    private readonly context: TransportContext,
  ) {
    this.writer = new TurnWriter(child.stdin);
    child.on('error', (error) => context.log.warn(`Server "${server}": ${error.message}`));
    child.stdin.on('error', () => this.finishSoon());
    child.stdout.on('close', () => this.finishSoon());
    child.on('exit', () => this.finishSoon());
    child.on('close', () => this.finish());
    const errorLines = wordReader(context.words);
    readPaced(
      child.stderr,
      (chunk) => errorLines.push(chunk),
      (chunk) => this.isChatty(chunk),
    );
    child.stderr.on('end', () => errorLines.end());
  }

  listen(events: TransportEvents): void {
    this.events = events;
    const lines = messageReader(this.server, this.context, events);
    readPaced(
      this.child.stdout,
      (chunk) => lines.push(chunk),
      () => events.isFlooding,
    );
    this.child.stdout.on('end', () => lines.end());
  }

  send(message: RpcMessage): void {
    if (this.child.stdin.writableLength > MAX_UNREAD_BYTES) this.refuse(message);
    else if (this.child.stdin.writable) this.writer.write(`${JSON.stringify(message)}\n`);
  }

  agreed(): void {}

  close(): Promise<void> {
    if (this.child.stdin.writable) this.writer.flush();
    this.child.stdin.end();
    return this.group.end();
  }

  /** What the server does not read is not kept for it without end. */
  private refuse(message: RpcMessage): void {
    const { server, context, events } = this;
    context.bounds.note(
      'input',
      `It leaves more than ${MAX_UNREAD_BYTES} bytes unread; what else is meant for it is refused.`,
    );
    if (!('id' in message && 'method' in message)) return;
    const sentence = `Server "${server}" does not read what it is sent.`;
    events?.failed(message.id, new AppError('PROVIDER_UNAVAILABLE', sentence));
  }

  private isChatty({ length }: Buffer): boolean {
    if (this.spoken.allows(length)) return false;
    this.context.bounds.note(
      'stderr',
      'It writes more than 5 MiB a second on stderr, which is read more slowly for it.',
    );
    return true;
  }

  /**
   * The last words may still be on their way, and the exit code too. `close` comes when all is read, but not while
   * a grandchild holds a pipe open.
   */
  private finishSoon(): void {
    setTimeout(() => this.finish(), SETTLE_MS).unref();
  }

  private finish(): void {
    if (this.finished) return;
    this.finished = true;
    void this.close();
    const { exitCode, signalCode } = this.child;
    const how = howItEnded(exitCode, signalCode);
    const details = { exitCode, signal: signalCode };
    this.events?.closed(programEnded(this.server, how, this.context.words, details));
  }
}

function howItEnded(exitCode: number | null, signal: NodeJS.Signals | null): string {
  if (exitCode !== null) return `ended with exit code ${exitCode}`;
  return signal === null ? 'closed its pipe' : `was ended by ${signal}`;
}
