export type ClientName = 'claude' | 'codex' | 'gemini' | 'copilot' | 'opencode';

export interface LaunchOptions {
  prompt: string;
  /** Default: this process's. */
  cwd?: string;
  /** Added to this process's environment; `undefined` takes a variable away. */
  env?: Record<string, string | undefined>;
  /** More arguments for the CLI, such as `['--model', 'opus']`. */
  args?: readonly string[];
  /** Aborted: the CLI and all that it started is ended. */
  signal?: AbortSignal;
}

/** What a CLI says, in one form for all; `raw` is its own line. `tool` is the name that the session gave. */
export type AgentEvent =
  | { type: 'text'; text: string; raw: unknown }
  | { type: 'tool_call'; id: string; tool: string; args: unknown; raw: unknown }
  | { type: 'tool_result'; id: string; text: string; isError: boolean; raw: unknown }
  | { type: 'final'; text: string; raw: unknown }
  | { type: 'error'; message: string; raw: unknown }
  | { type: 'other'; raw: unknown };

export interface LaunchResult {
  /** The model's last answer. */
  text: string;
}

/** One run of a CLI. Its events can be read once, by one reader. */
export interface Launched extends AsyncIterable<AgentEvent> {
  /** Rejects with an error of code `CLIENT_FAILED` when the CLI ended without an answer. */
  readonly result: Promise<LaunchResult>;
  /** Ends the CLI and all that it started; resolves when they are gone. */
  close(): Promise<void>;
}
