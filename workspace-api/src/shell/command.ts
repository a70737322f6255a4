import { constants } from 'node:os';
import type { Ended, Started } from '../sandbox/sandbox.js';
import { CappedOutput } from './capped-output.js';

export interface CommandOutcome {
  stdout: string;
  stderr: string;
  /** As a shell tells it: 128 and the signal's number for a command that a signal ended, 124 at the time limit. */
  exit_code: number;
  execution_time_ms: number;
  /** A sentence, where we or the machine ended it. */
  error?: string;
  ended_by?: EndedBy;
  /** True where the middle of what was printed is left out. */
  output_truncated?: true;
}

export type EndedBy = 'timeout' | 'output' | 'memory' | 'cancelled';

export interface CommandBounds {
  timeoutMs: number;
  /** Bytes that are kept of each stream. */
  keptBytes: number;
  /** Bytes after which the command is ended. */
  printedBytes: number;
}

/** Hears text as it is printed, in whole characters. */
export type OnOutput = (stream: 'stdout' | 'stderr', text: string) => void;

/** One command from its start to its outcome. */
export class Command {
  readonly outcome: Promise<CommandOutcome>;
  private readonly startedAt = performance.now();
  private readonly stdout: CappedOutput;
  private readonly stderr: CappedOutput;
  private endedBy: EndedBy | undefined;
  private readonly deadline: NodeJS.Timeout;
  private ending: NodeJS.Timeout | undefined;
  private giveUp = () => {};
  private readonly givenUp = new Promise<Ended>((resolve) => {
    this.giveUp = () => resolve(GIVEN_UP);
  });

  constructor(
    private readonly started: Started,
    private readonly bounds: CommandBounds,
    private readonly onOutput: OnOutput | undefined,
  ) {
    this.stdout = this.collect('stdout');
    this.stderr = this.collect('stderr');
    this.deadline = setTimeout(() => this.end('timeout'), bounds.timeoutMs);
    this.outcome = this.finished();
  }

  /** What was printed until now. */
  printed(): { stdout: string; stderr: string } {
    return { stdout: this.stdout.text(), stderr: this.stderr.text() };
  }

  get runningMs(): number {
    return Math.round(performance.now() - this.startedAt);
  }

  feed(text: string, isLast: boolean): void {
    this.started.feed(text, isLast);
  }

  /** The first reason counts. There is an outcome soon after, whatever becomes of the processes. */
  end(reason: EndedBy): void {
    this.endedBy ??= reason;
    this.ending ??= setTimeout(this.giveUp, ENDING_MS);
    this.started.kill();
  }

  private collect(stream: 'stdout' | 'stderr'): CappedOutput {
    const output = new CappedOutput(this.bounds.keptBytes);
    const tell = (text: string) => {
      if (text !== '') this.onOutput?.(stream, text);
    };
    this.started[stream].on('data', (chunk: Buffer) => {
      tell(output.add(chunk));
      if (output.total > this.bounds.printedBytes) this.end('output');
    });
    this.started[stream].on('end', () => tell(output.end()));
    return output;
  }

  private async finished(): Promise<CommandOutcome> {
    const ended = await Promise.race([this.started.ended, this.givenUp]);
    clearTimeout(this.deadline);
    clearTimeout(this.ending);
    // Nobody reads on, and who still prints learns of that.
    if (ended === GIVEN_UP)
      for (const stream of ['stdout', 'stderr'] as const) this.started[stream].destroy();
    const { code, signal, outOfMemory } = ended;
    const rest = ended === GIVEN_UP ? STILL_THERE : '';
    const endedBy = this.endedBy ?? (outOfMemory ? 'memory' : undefined);
    return {
      ...this.printed(),
      exit_code: endedBy === 'timeout' ? TIMED_OUT : (code ?? 128 + numberOf(signal)),
      execution_time_ms: this.runningMs,
      ...(endedBy ? { error: this.sentence(endedBy) + rest, ended_by: endedBy } : {}),
      ...(this.stdout.isCut || this.stderr.isCut ? { output_truncated: true as const } : {}),
    };
  }

  private sentence(reason: EndedBy): string {
    const { timeoutMs, printedBytes } = this.bounds;
    switch (reason) {
      case 'timeout':
        return `The command was ended after ${timeoutMs / 1000} s, its limit; what it had printed is here.`;
      case 'output':
        return `The command was ended after printing ${printedBytes} bytes; what is kept of them is here.`;
      case 'memory':
        return 'A process of the command was ended by the machine, since all of them took more memory than they may.';
      case 'cancelled':
        return 'The command was cancelled.';
    }
  }
}

const TIMED_OUT = 124;
/** From the blow to the answer, at most. Some processes end late, and some hid where nothing holds them together. */
const ENDING_MS = 10_000;
const GIVEN_UP: Ended = { code: null, signal: 'SIGKILL', outOfMemory: false };
const STILL_THERE = ` Something of it had not ended ${ENDING_MS / 1000} s later, and may still run.`;

function numberOf(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : (constants.signals[signal] ?? 0);
}
