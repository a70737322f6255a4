import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolResult } from '@mcpbridge/shared/tools.js';
import { randomHex } from './random-hex.js';

/** Bytes of text that a result may carry to the client. */
export const TEXT_LIMIT = 128 * 1024;

/** Bytes for the line that says what was cut. */
const NOTE_BYTES = 1024;
const HEAD_BYTES = ((TEXT_LIMIT - NOTE_BYTES) * 3) / 4;
const TAIL_BYTES = (TEXT_LIMIT - NOTE_BYTES) / 4;

/** Where large outputs go: the given folder, else one of this process alone; made when first needed. */
export class OutputFolder {
  private ready: string | undefined;

  constructor(private readonly given: string | undefined) {}

  /** Answers the new file's path. Only this user can read it. */
  save(tool: string, text: Buffer): string {
    const name = tool.replace(/[^\w.-]/g, '_').slice(0, 64);
    const path = join(this.path(), `tool_${name}_${randomHex(6)}.${extension(text)}`);
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    return path;
  }

  private path(): string {
    if (this.ready) return this.ready;
    if (this.given) mkdirSync(this.given, { recursive: true, mode: 0o700 });
    this.ready = this.given ?? mkdtempSync(join(tmpdir(), 'mcpbridge-'));
    return this.ready;
  }
}

/**
 * A result whose texts together are over the limit gets them in one block, its middle replaced by the name of the
 * file that holds all of it; other content stays. A smaller one comes back as it is.
 */
export function spillLargeText(result: ToolResult, tool: string, folder: OutputFolder): ToolResult {
  const blocks = result.content ?? [];
  const texts = blocks.map(textOf).filter((text) => text !== undefined);
  const whole = Buffer.from(texts.join('\n'), 'utf8');
  if (whole.length <= TEXT_LIMIT) return result;
  const cut = { type: 'text', text: shorten(whole, saveOrSay(tool, whole, folder)) };
  return { ...result, content: [cut, ...blocks.filter((block) => textOf(block) === undefined)] };
}

function textOf(block: unknown): string | undefined {
  if (!isObject(block)) return undefined;
  if (block.type === 'text' && typeof block.text === 'string') return block.text;
  if (isObject(block.resource) && typeof block.resource.text === 'string') return block.resource.text;
  return undefined;
}

function saveOrSay(tool: string, text: Buffer, folder: OutputFolder): string {
  try {
    return `all of it is in ${folder.save(tool, text)}`;
  } catch (error) {
    return `the rest is lost, because it could not be saved: ${messageOf(error).slice(0, NOTE_BYTES / 2)}`;
  }
}

function shorten(text: Buffer, where: string): string {
  const head = text.toString('utf8', 0, borderBefore(text, HEAD_BYTES));
  const tail = text.toString('utf8', borderBefore(text, text.length - TAIL_BYTES));
  return `${head}\n\n… [cut here: the output has ${text.length} bytes; ${where}] …\n\n${tail}`;
}

/** The nearest place at or before `at` where a character begins. */
function borderBefore(text: Buffer, at: number): number {
  let border = at;
  while (border > 0 && ((text[border] ?? 0) & 0xc0) === 0x80) border--;
  return border;
}

function extension(text: Buffer): string {
  try {
    JSON.parse(text.toString('utf8'));
    return 'json';
  } catch {
    // Plain text then.
    return 'txt';
  }
}
