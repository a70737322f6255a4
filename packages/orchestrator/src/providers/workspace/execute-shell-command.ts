import type { CancelSignal } from '@mcpbridge/shared/cancel.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { platformTool } from '@mcpbridge/shared/platform-tools.js';
import { textResult } from '@mcpbridge/shared/tools.js';
import type { FunctionTool } from '../function-provider.js';

/** `POST /api/execute` of the workspace for that session; rejects when the command could not be run. */
export type RunCommand = (sessionId: string, body: JsonObject, signal: CancelSignal) => Promise<JsonObject>;

/** Of each stream, for a model; who wants all of a long output writes it into a file. */
const MAX_OUTPUT = 24_000;

/** A command that fails is a result like any other: its exit code says so. */
export function executeShellCommand(run: RunCommand): FunctionTool {
  return {
    definition: platformTool('execute_shell_command'),
    async run({ args, caller, signal }) {
      const outcome = await run(caller.sessionId, { ...args, max_output: MAX_OUTPUT }, signal);
      return textResult(JSON.stringify(outcome));
    },
  };
}
