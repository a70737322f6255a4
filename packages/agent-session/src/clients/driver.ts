import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { BridgeConfig } from 'mcpbridge/client-config.js';
import type { AgentEvent } from '../launch-types.js';
import type { PrivateFolder } from '../private-folder.js';

/** The bridge's name in every launched CLI; the limit on the names of tools leaves room for seven letters. */
export const SERVER = 'session';

/** Milliseconds that a CLI waits for a call, where it has a limit: as long as the bridge does. */
export const CALL_LIMIT_MS = 90 * 60_000;

export interface Preparation {
  prompt: string;
  entry: BridgeConfig;
  /** For files that the CLI reads. */
  folder: PrivateFolder;
  /** The environment that the CLI gets, but for what the driver adds. */
  env: NodeJS.ProcessEnv;
  /** Runs the CLI with these arguments instead, in the same folder and environment; answers its stdout as JSON. */
  ask(args: string[]): Promise<unknown>;
}

export interface Start {
  args: string[];
  /** What the CLI reads from stdin: the prompt, where it takes it so, since arguments are short and seen by all. */
  stdin?: string;
  env?: Record<string, string>;
}

/** What is peculiar to one CLI: how it is told of the session and of nothing else, and what its lines mean. */
export interface ClientDriver {
  command: string;
  prepare(preparation: Preparation): Start | Promise<Start>;
  /** For one run: what a line of stdout says. The last text is the answer, unless a line says so itself. */
  reader(): (line: JsonObject) => AgentEvent[];
}
