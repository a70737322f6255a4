import type { Readable } from 'node:stream';
import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { resultText, type ToolResult, textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';
import type { ProviderCall } from '../provider.js';
import { CODE_COMMAND, type RunnerMessage } from './code-runner.js';
import { eventsOf } from './events-of.js';

export interface CodeHost {
  /** `POST /api/execute` as server-sent events, without network and without variables of the session. */
  open(sessionId: string, body: JsonObject, signal: CancelSignal): Promise<Readable>;
  /** More for it to read. */
  feed(sessionId: string, id: string, text: string): Promise<void>;
  /** As any call of that session. */
  call(name: string, args: unknown, outer: ProviderCall): Promise<ToolResult>;
}

const DEFAULT_SECONDS = 60;
const MAX_CALLS = 1000;
const MAX_RESULT = 100_000;

/** For catalogs of thousands: of what tools answer only that comes to the model which its code returns. */
export function runCode(host: CodeHost): FunctionTool {
  return {
    definition: {
      name: 'run_code',
      title: 'Run JavaScript that calls tools',
      description:
        'Runs the body of an async JavaScript function. In it, `await tools.NAME(args)` calls a tool that search_tools found and gives what it answers: its structured content, else its text; a failed call throws. `return` what you need of it; console.log is told, too. No network and no packages but those of Node; files as in the shell.',
      inputSchema: {
        type: 'object',
        properties: {
          code: {
            type: 'string',
            minLength: 1,
            description: 'For example: return (await tools.a__b({})).items.length',
          },
          timeout: { type: 'integer', minimum: 1, maximum: 3600, description: 'Seconds; default: 60' },
        },
        required: ['code'],
      },
    },
    run: (call) => new CodeRun(host, call).run(),
  };
}

/** One run: what the code asks for, and what comes of it. */
class CodeRun {
  private id = '';
  private calls = 0;
  private unfinished = '';
  private readonly logs: string[] = [];
  private complaints = '';
  private outcome: { result: unknown } | { error: string } | undefined;

  constructor(
    private readonly host: CodeHost,
    private readonly outer: ProviderCall,
  ) {}

  async run(): Promise<ToolResult> {
    const { args, caller, signal } = this.outer;
    const body = {
      command: CODE_COMMAND,
      stdin: `${JSON.stringify({ code: args.code })}\n`,
      interactive: true,
      timeout: Number(args.timeout ?? DEFAULT_SECONDS),
      max_output: 1000,
    };
    const stream = await this.host.open(caller.sessionId, body, signal);
    for await (const { name, data } of eventsOf(stream)) {
      if (name === 'started') this.id = String(data.id);
      else if (name === 'stdout') this.hear(String(data.text));
      else if (name === 'stderr') this.complaints = `${this.complaints}${data.text}`.slice(-2000);
      else this.end(data);
    }
    return this.result();
  }

  private hear(text: string): void {
    const lines = `${this.unfinished}${text}`.split('\n');
    this.unfinished = lines.pop() ?? '';
    for (const line of lines) this.take(line);
  }

  private take(line: string): void {
    const message = readMessage(line);
    if ('call' in message) void this.answer(message);
    else if ('log' in message) this.logs.push(message.log);
    else this.outcome ??= message;
  }

  private async answer({ call, name, args }: Extract<RunnerMessage, { call: number }>): Promise<void> {
    let answer: JsonObject;
    try {
      this.calls += 1;
      if (this.calls > MAX_CALLS) throw new Error(`One run makes at most ${MAX_CALLS} calls.`);
      if (name === 'run_code') throw new Error('run_code cannot be called from within itself.');
      const result = await this.host.call(name, args, this.outer);
      answer = result.isError
        ? { answer: call, error: resultText(result) }
        : { answer: call, value: result.structuredContent ?? resultText(result) };
    } catch (thrown) {
      answer = { answer: call, error: messageOf(thrown) };
    }
    await this.host
      .feed(this.outer.caller.sessionId, this.id, `${JSON.stringify(answer)}\n`)
      // The code ended without waiting for it.
      .catch(() => undefined);
  }

  /** How the command ended counts where the code said nothing itself. */
  private end(data: JsonObject): void {
    const reason = data.error ?? data.message ?? this.complaints.trim();
    this.outcome ??= { error: String(reason || `The code ended with ${data.exit_code}.`) };
  }

  private result(): ToolResult {
    const { outcome = { error: 'The workspace broke off.' }, logs } = this;
    const told = logs.length > 0 ? `\n[console]\n${logs.join('\n')}` : '';
    if ('error' in outcome) return { ...textResult(outcome.error + told), isError: true };
    const text = JSON.stringify(outcome.result);
    if (text.length <= MAX_RESULT) return textResult(text + told);
    const tooLong = `The code returned ${text.length} characters of JSON, more than ${MAX_RESULT}: return less of it.`;
    return { ...textResult(tooLong + told), isError: true };
  }
}

/** What is no message was printed past console.log. */
function readMessage(line: string): RunnerMessage {
  try {
    const message: unknown = JSON.parse(line);
    if (typeof message === 'object' && message !== null) return message as RunnerMessage;
  } catch {
    // It is told as it stands.
  }
  return { log: line };
}
