import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { duration, lineOf, short } from './step-line.js';
import type { RunStep } from './steps.js';

interface ViewOptions {
  out: NodeJS.WritableStream;
  err: NodeJS.WritableStream;
  /** Somebody looks at stderr as it is written. */
  isLive: boolean;
  isQuiet: boolean;
  isJson: boolean;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 90;
const CLEAR = '\r\u001b[2K';
const dim = (text: string) => `\u001b[2m${text}\u001b[22m`;

/** A run as a person at a terminal sees it: what is going on with a spinner, what is done with its time, the answer. */
export class LiveView {
  private readonly running = new Map<string, { label: string; since: number }>();
  private frame = 0;
  private spinner: NodeJS.Timeout | undefined;
  private words = '';

  constructor(private readonly options: ViewOptions) {
    this.startSpinning();
  }

  step(step: RunStep): void {
    const { isJson, out } = this.options;
    if (isJson) {
      out.write(`${JSON.stringify(step)}\n`);
      return;
    }
    if (step.type === 'thinking' || step.type === 'text') this.words = (this.words + step.text).slice(-400);
    else if (step.type === 'tool_call')
      this.running.set(step.id, {
        label: `${step.tool} ${short(JSON.stringify(step.arguments), 60)}`,
        since: Date.now(),
      });
    else this.line(step);
  }

  /** The run as it ended or waits. */
  end(run: JsonObject): void {
    const { isJson, out, isQuiet } = this.options;
    this.stopSpinning();
    if (isJson) {
      out.write(`${JSON.stringify({ type: 'end', ...run })}\n`);
      return;
    }
    if (typeof run.answer === 'string') out.write(`${run.answer}\n`);
    if (!isQuiet && typeof run.stopped === 'string') this.write(`Stopped early: ${run.stopped}`);
  }

  write(line: string): void {
    if (this.options.isQuiet || this.options.isJson) return;
    this.options.err.write(`${this.options.isLive ? CLEAR : ''}${line}\n`);
  }

  startSpinning(): void {
    if (this.options.isLive) this.spinner ??= setInterval(() => this.draw(), FRAME_MS);
  }

  /** Nothing moves while a person is asked. */
  stopSpinning(): void {
    clearInterval(this.spinner);
    if (this.spinner && this.options.isLive) this.options.err.write(CLEAR);
    this.spinner = undefined;
  }

  close(): void {
    this.stopSpinning();
  }

  private line(step: RunStep): void {
    if (step.type === 'usage') this.words = '';
    if (step.type !== 'tool_result') {
      const line = lineOf(step);
      if (line && step.type !== 'error') this.write(this.options.isLive ? dim(line) : line);
      return;
    }
    const call = this.running.get(step.id);
    this.running.delete(step.id);
    const label = call?.label ?? step.tool;
    const result = step.isError ? ` ${short(step.text, 80)}` : '';
    this.write(`${step.isError ? '✗' : '✓'} ${label}  ${duration(step.durationMs)}${result}`);
  }

  private draw(): void {
    this.frame = (this.frame + 1) % FRAMES.length;
    const calls = [...this.running.values()].map(
      ({ label, since }) => `${label} ${duration(Date.now() - since)}`,
    );
    const what = calls.length > 0 ? calls.join(' · ') : short(this.words.slice(-90), 80) || 'thinking';
    const columns = process.stderr.columns || 80;
    this.options.err.write(`${CLEAR}${FRAMES[this.frame]} ${dim(short(what, columns - 4))}`);
  }
}
