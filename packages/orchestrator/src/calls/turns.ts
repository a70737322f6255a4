import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { CallListener } from '../providers/provider.js';

/** Clients that asked for progress hear that often that the call still waits. */
const REMIND_EVERY_MS = 5000;

/** Which arguments name the thing that a tool works on; calls on one thing run one after the other. */
export interface TurnRule {
  /** The server's own names of tools, as a pattern. */
  tools: RegExp;
  arguments: readonly string[];
}

/** What a call works on, as a text that is the same for every call on it; undefined: on nothing that has turns. */
export function thingOf(
  server: string,
  rules: readonly TurnRule[],
  tool: string,
  args: JsonObject,
): string | undefined {
  const rule = rules.find(({ tools }) => tools.test(tool));
  const named = rule?.arguments.filter((name) => args[name] !== undefined) ?? [];
  if (named.length === 0) return undefined;
  return JSON.stringify([server, ...named.map((name) => [name, args[name]])]);
}

/** Who works on a thing, and who waits for it, in the order in which they came. */
export class Turns {
  private readonly waiting = new Map<string, (() => void)[]>();

  /** Resolves when it is this call's turn, with what ends it; @throws what `signal` was aborted with. */
  async take(
    thing: string,
    tool: string,
    signal: CancelSignal,
    listener?: CallListener,
  ): Promise<() => void> {
    const line = this.waiting.get(thing);
    if (line) await wait(line, tool, signal, listener);
    else this.waiting.set(thing, []);
    return () => this.pass(thing);
  }

  private pass(thing: string): void {
    const next = this.waiting.get(thing)?.shift();
    if (next) next();
    else this.waiting.delete(thing);
  }
}

function wait(
  line: (() => void)[],
  tool: string,
  signal: CancelSignal,
  listener: CallListener | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let reminders = 0;
    const remind = () =>
      listener?.progress?.({
        progress: ++reminders,
        message: `"${tool}" waits for a call on the same thing`,
      });
    const reminding = setInterval(remind, REMIND_EVERY_MS);
    const leave = () => {
      clearInterval(reminding);
      signal.removeEventListener('abort', onAbort);
    };
    const enter = () => {
      leave();
      resolve();
    };
    const onAbort = () => {
      leave();
      line.splice(line.indexOf(enter), 1);
      reject(whyNot(tool, signal.reason));
    };
    signal.addEventListener('abort', onAbort);
    line.push(enter);
    remind();
  });
}

function whyNot(tool: string, reason: unknown): unknown {
  if (!(reason instanceof AppError) || reason.code !== 'CALL_TIMEOUT') return reason;
  const sentence = `"${tool}" was not begun: other calls on the same thing took all of its time.`;
  return new AppError('CALL_TIMEOUT', sentence, { cause: reason, retryable: true });
}
