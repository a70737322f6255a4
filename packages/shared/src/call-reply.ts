import type { ErrorBody } from './errors.js';
import { resultText, type ToolResult } from './tools.js';
import type { CallReply } from './wire.js';

/** The tool's answer whole, with `success` and its text for scripts. */
export function callReply(result: ToolResult): CallReply {
  const text = resultText(result);
  if (result.isError !== true) return { success: true, result: text, ...result };
  const error: ErrorBody = { code: 'TOOL_FAILED', message: text, layer: 'tool', retryable: false };
  return { success: false, result: text, error, ...result };
}
