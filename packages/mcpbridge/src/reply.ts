import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { type ToolResult, textResult } from '@mcpbridge/shared/tools.js';
import { failureResult, readErrorBody } from './failure.js';

/** What a call came to. */
export interface Executed {
  result: ToolResult;
  /** The executor's own text of the result, when that can be passed on as it is. */
  json?: string;
}

const NO_OUTPUT = 'The tool ran and gave no output.';

/**
 * Reads what an executor answered with a good status: an MCP result, a reply of the orchestrator
 * (`{success, result, error, content …}`), the older `{success, result, error, images?}`, or plain text.
 */
export function readReply(text: string): Executed {
  const value = parse(text);
  if (!isObject(value)) return { result: textResult(text.trim() === '' ? NO_OUTPUT : text) };
  if (typeof value.success === 'boolean') return { result: fromReply(value, value.success) };
  if (Array.isArray(value.content) || value.structuredContent !== undefined) {
    return { result: value, json: text };
  }
  return { result: textResult(text) };
}

function fromReply(reply: JsonObject, success: boolean): ToolResult {
  const { success: _, result, error, images, ...rest } = reply;
  if (Array.isArray(rest.content)) return success ? rest : { ...rest, isError: true };
  const said = result === undefined || result === null || result === '' ? [] : [textBlock(result)];
  const shown = Array.isArray(images) ? images.filter(isObject).map(imageBlock) : [];
  if (success) {
    const content = [...said, ...shown];
    return content.length === 0 ? textResult(NO_OUTPUT) : { content };
  }
  const failed = failureResult(
    isObject(error)
      ? readErrorBody(error)
      : { code: 'TOOL_FAILED', layer: 'tool', retryable: false, message: describe(error) },
  );
  return { ...failed, content: [...(failed.content ?? []), ...said, ...shown] };
}

function describe(error: unknown): string {
  if (typeof error === 'string' && error !== '') return error;
  return error ? JSON.stringify(error) : 'The executor says that the call failed, and no more.';
}

function textBlock(value: unknown): JsonObject {
  return { type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) };
}

function imageBlock({ data, mimeType }: JsonObject): JsonObject {
  return { type: 'image', data, mimeType };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: plain text is an answer, too.
    return undefined;
  }
}
