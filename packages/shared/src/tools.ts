import { isObject, type JsonObject } from './json-rpc.js';

/** A tool as its server describes it; fields that we do not know are kept. */
export interface ToolDefinition {
  name: string;
  description?: string;
  inputSchema: JsonObject;
  [field: string]: unknown;
}

/** What a tool answered, whole; content kinds that we do not know are kept. */
export interface ToolResult {
  content?: unknown[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: JsonObject;
  [field: string]: unknown;
}

export function textResult(text: string, isError = false): ToolResult {
  const content = [{ type: 'text', text }];
  return isError ? { content, isError: true } : { content };
}

/** The text of a result, for scripts: text blocks and embedded texts by line, else the structured content as JSON. */
export function resultText(result: ToolResult): string {
  const lines: string[] = [];
  for (const block of result.content ?? []) {
    const text = blockText(block);
    if (text !== undefined) lines.push(text);
  }
  if (lines.length === 0 && result.structuredContent !== undefined)
    return JSON.stringify(result.structuredContent);
  return lines.join('\n');
}

function blockText(block: unknown): string | undefined {
  if (!isObject(block)) return undefined;
  if (typeof block.text === 'string') return block.text;
  if (isObject(block.resource) && typeof block.resource.text === 'string') return block.resource.text;
  if (block.type === 'resource_link' && typeof block.uri === 'string') return block.uri;
  return undefined;
}
