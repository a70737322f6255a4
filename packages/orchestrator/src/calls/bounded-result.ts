import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { resultText, type ToolResult } from '@mcpbridge/shared/tools.js';
import type { Session } from '../sessions/session.js';

/** Keeps the whole text of a result of that tool; answers where, as the end of "The whole is kept:". */
export type KeepLarge = (session: Session, tool: string, text: string) => Promise<string>;

/**
 * A result within a session's limits: of long texts head and tail stay, pictures and structures that do not fit go, and
 * a last line says what is missing and where `keep` put the whole. With `imageBytes` pictures count for themselves.
 */
export async function boundedResult(
  result: ToolResult,
  { resultBytes: limit, imageBytes }: { resultBytes: number; imageBytes?: number | undefined },
  keep: (text: string) => Promise<string>,
): Promise<ToolResult> {
  const whole = JSON.stringify(result);
  const bytes = Buffer.byteLength(whole);
  const blocks = Array.isArray(result.content) ? result.content : [];
  let leftOfImages = imageBytes ?? 0;
  const images = new Set<unknown>();
  for (const block of blocks) {
    const size = isImage(block) ? block.data.length : Number.POSITIVE_INFINITY;
    if (size > leftOfImages) continue;
    images.add(block);
    leftOfImages -= size;
  }
  if (bytes - ((imageBytes ?? 0) - leftOfImages) <= limit) return result;
  let left = limit;
  const content: unknown[] = [];
  for (const block of blocks) {
    if (images.has(block)) {
      content.push(block);
      continue;
    }
    const size = Buffer.byteLength(JSON.stringify(block));
    if (size <= left) content.push(block);
    else if (isObject(block) && typeof block.text === 'string' && left > 0)
      content.push({ ...block, text: headAndTail(block.text, left) });
    left -= Math.min(size, left);
  }
  const { structuredContent, ...rest } = result;
  const where = await keep(resultText(result) || whole);
  const text = `[The result has ${bytes} bytes; this session takes ${limit}. The whole is kept: ${where}.]`;
  return { ...rest, content: [...content, { type: 'text', text }] };
}

function isImage(block: unknown): block is { data: string } {
  return isObject(block) && block.type === 'image' && typeof block.data === 'string';
}

/** In whole characters. */
function headAndTail(text: string, bytes: number): string {
  const half = Math.floor(bytes / 2);
  const whole = Buffer.from(text);
  const head = new TextDecoder().decode(whole.subarray(0, half)).replace(/\uFFFD+$/, '');
  const tail = new TextDecoder().decode(whole.subarray(whole.length - half)).replace(/^\uFFFD+/, '');
  return `${head}\n[…]\n${tail}`;
}
