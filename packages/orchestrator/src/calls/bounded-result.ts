import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { resultText, type ToolResult } from '@mcpbridge/shared/tools.js';

/**
 * A result within a session's limit: of long texts head and tail stay, pictures and structures that do not fit go, and
 * a last line says what is missing and under which id `save` keeps the whole.
 */
export async function boundedResult(
  result: ToolResult,
  limit: number,
  save: (text: string) => Promise<string>,
): Promise<ToolResult> {
  const whole = JSON.stringify(result);
  const bytes = Buffer.byteLength(whole);
  if (bytes <= limit) return result;
  let left = limit;
  const content: unknown[] = [];
  for (const block of Array.isArray(result.content) ? result.content : []) {
    const size = Buffer.byteLength(JSON.stringify(block));
    if (size <= left) content.push(block);
    else if (isObject(block) && typeof block.text === 'string' && left > 0)
      content.push({ ...block, text: headAndTail(block.text, left) });
    left -= Math.min(size, left);
  }
  const { structuredContent, ...rest } = result;
  const id = await save(resultText(result) || whole);
  const text = `[The result has ${bytes} bytes; this session takes ${limit}. The whole is kept: read_large_output or search_large_output with id "${id}".]`;
  return { ...rest, content: [...content, { type: 'text', text }] };
}

/** In whole characters. */
function headAndTail(text: string, bytes: number): string {
  const half = Math.floor(bytes / 2);
  const whole = Buffer.from(text);
  const head = new TextDecoder().decode(whole.subarray(0, half)).replace(/\uFFFD+$/, '');
  const tail = new TextDecoder().decode(whole.subarray(whole.length - half)).replace(/^\uFFFD+/, '');
  return `${head}\n[…]\n${tail}`;
}
