import { failureText, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { type ToolResult, textResult } from '@mcpbridge/shared/tools.js';

const NO_OUTPUT = 'The tool ran and gave no output.';

/**
 * What a handler answered, as an MCP result: one that it is already passes whole, text is text, an object is told
 * both as text and as structured content. Throws when it is nothing that JSON can say.
 */
export function handlerResult(answer: unknown): ToolResult {
  if (typeof answer === 'string') return textResult(answer);
  if (isResult(answer)) return answer;
  const text = JSON.stringify(answer);
  if (text === undefined) return textResult(NO_OUTPUT);
  // Read back, because a Date and the like are other things in JSON.
  const plain: unknown = JSON.parse(text);
  return isObject(plain) ? { ...textResult(text), structuredContent: plain } : textResult(text);
}

/** What a handler threw, for the model to read. */
export function handlerFailure(thrown: unknown): ToolResult {
  const message = messageOf(thrown) || 'The tool failed and said no more.';
  return textResult(failureText({ message, code: 'TOOL_FAILED', layer: 'tool' }), true);
}

function isResult(answer: unknown): answer is ToolResult {
  if (!isObject(answer) || !Array.isArray(answer.content)) return false;
  return answer.content.every((block) => isObject(block) && typeof block.type === 'string');
}
